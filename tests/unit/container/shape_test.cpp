#include "container/shape.h"

#include <doctest/doctest.h>

using namespace cachetool::container;
using Counts = std::vector<std::int64_t>;

TEST_SUITE("container/shape") {
  TEST_CASE("bytes that a shape takes") {
    CHECK(bytes_for(Counts{}, 4) == 4);
    CHECK(bytes_for(Counts{2, 3}, 4) == 24);
    CHECK(bytes_for(Counts{INT64_MAX, INT64_MAX, 0}, 4) == 0);
    CHECK_FALSE(bytes_for(Counts{INT64_MAX, 4}, 4));
    CHECK_FALSE(bytes_for(Counts{0, -1}, 4));
  }

  TEST_CASE("strides") {
    CHECK(row_strides(Counts{2, 3, 4}) == Counts{12, 4, 1});
    CHECK(column_strides(Counts{2, 3, 4}) == Counts{1, 2, 6});
    CHECK(row_strides(Counts{2, 0, 4}) == Counts{4, 4, 1});  // torch.empty(2, 0, 4).stride()
    CHECK(row_strides(Counts{}).empty());
  }
}
