#include "base/interner.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

using cachetool::Interner;

TEST_SUITE("base/interner") {
  TEST_CASE("equal texts share a number, and zero is the empty text") {
    Interner interner;
    CHECK(interner.intern("") == 0);
    CHECK(interner.text(0).empty());
    const auto cuda = interner.intern("cuda");
    CHECK(cuda != 0);
    CHECK(interner.intern(std::string("cu") + "da") == cuda);
    CHECK(interner.intern("cpu") != cuda);
    CHECK(interner.text(cuda) == "cuda");
    CHECK(interner.text(12345).empty());
  }

  TEST_CASE("a text outlives what it was made of and stays in place while the interner grows") {
    Interner interner;
    std::uint32_t id = 0;
    {
      const std::string source(100, 'x');
      id = interner.intern(source);
    }
    const std::string_view early = interner.text(id);
    for (int i = 0; i < 10000; ++i) interner.intern(std::to_string(i));
    CHECK(early == std::string(100, 'x'));
    CHECK(interner.text(id).data() == early.data());
    CHECK(interner.intern(std::string("a\0b", 3)) != interner.intern("a"));
  }

  TEST_CASE("several threads agree") {
    Interner interner;
    std::vector<std::vector<std::uint32_t>> ids(4);
    std::vector<std::thread> threads;
    for (auto& own : ids) {
      threads.emplace_back([&interner, &own] {
        for (int i = 0; i < 1000; ++i) {
          own.push_back(interner.intern("text " + std::to_string(i % 50)));
          if (interner.text(own.back()) != "text " + std::to_string(i % 50)) own.clear();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(ids[0].size() == 1000);
    for (const auto& own : ids) CHECK(own == ids[0]);
    CHECK(interner.text(51).empty());
  }
}
