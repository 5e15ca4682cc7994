#include "verify/follow_ups.h"

#include <doctest/doctest.h>

#include "verify/check.h"

using namespace cachetool;
using namespace cachetool::verify;

TEST_SUITE_BEGIN("verify/follow_ups");

namespace {

Finding finding(std::string_view check, std::uint32_t root, std::string path) {
  Finding result;
  result.check = find_check(check);
  result.root = root;
  result.path = std::move(path);
  return result;
}

}  // namespace

TEST_CASE("every pair names checks that exist") {
  for (const FollowUp& pair : follow_ups()) {
    CAPTURE(pair.cause);
    CAPTURE(pair.follow_up);
    CHECK(find_check(pair.cause) != nullptr);
    CHECK(find_check(pair.follow_up) != nullptr);
  }
}

TEST_CASE("a follow-up goes with its cause, and only at the same place") {
  std::vector<Finding> findings{
      finding("triton.hides-bundle", 0, "triton/0/D"),
      finding("triton.child-missing", 0, "triton/0/D/g.json"),
      finding("triton.child-missing", 1, "triton/0/D/g.json"),
      finding("triton.child-missing", 0, "triton/0/E/g.json"),
      finding("entry.cache-key", 0, "fxgraph/a"),
      finding("module.missing", 0, "fxgraph/a"),
      finding("module.missing", 0, "fxgraph/b"),
  };
  drop_follow_ups(findings);
  REQUIRE(findings.size() == 5);
  CHECK(findings[1].root == 1);
  CHECK(findings[2].path == "triton/0/E/g.json");
  CHECK(findings[3].path == "fxgraph/a");
  CHECK(findings[4].path == "fxgraph/b");
}
