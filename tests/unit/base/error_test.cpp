#include "base/error.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <set>
#include <string>

#include "base/budget.h"
#include "base/posix_error.h"

using namespace cachetool;

TEST_SUITE("base/error") {
  TEST_CASE("each code has a name of its own") {
    std::set<std::string_view> names;
    constexpr auto kLast = static_cast<int>(ErrorCode::kInterrupted);
    for (int code = 0; code <= kLast; ++code) names.insert(code_name(static_cast<ErrorCode>(code)));
    CHECK(names.size() == kLast + 1);
    CHECK(code_name(ErrorCode::kLimitMemory) == "limit.memory");
  }

  TEST_CASE("a description leaves out what isn't known and escapes path and message") {
    CHECK(describe({ErrorCode::kIo, "broken", {}, {}, {}}) == "broken [io.error]");
    CHECK(describe({ErrorCode::kTruncated, "ends early", "a\x1b/b", 7, "hint"}) ==
          "a\\x1b/b: offset 7: ends early [data.truncated]");
    CHECK(describe({ErrorCode::kMalformed, "class \x1b[31m", {}, {}, {}}) ==
          "class \\x1b[31m [data.malformed]");
  }

  TEST_CASE("system errors") {
    const Error error = system_error(ENOENT, "open", "x");
    CHECK(error.code == ErrorCode::kNotFound);
    CHECK(error.message == "cannot open: No such file or directory");
    CHECK(error.path == "x");
    CHECK(code_of_errno(EACCES) == ErrorCode::kPermission);
    CHECK(code_of_errno(EPERM) == ErrorCode::kPermission);
    CHECK(code_of_errno(ELOOP) == ErrorCode::kNotRegular);
    CHECK(code_of_errno(EXDEV) == ErrorCode::kMountPoint);
    CHECK(code_of_errno(EEXIST) == ErrorCode::kExists);
    CHECK(code_of_errno(ENOTEMPTY) == ErrorCode::kExists);
    CHECK(code_of_errno(EWOULDBLOCK) == ErrorCode::kLocked);
    CHECK(code_of_errno(EIO) == ErrorCode::kIo);
  }
}

TEST_SUITE("base/budget") {
  TEST_CASE("takes what there is, and nothing when there is too little") {
    Budget budget(100);
    CHECK(budget.charge(60));
    CHECK_FALSE(budget.charge(41));
    CHECK_FALSE(budget.charge(~std::uint64_t{0}));
    CHECK(budget.used() == 60);
    CHECK(budget.charge(40));
    budget.release(90);
    CHECK(budget.used() == 10);
    CHECK(budget.peak() == 100);
    budget.release(1000);
    CHECK(budget.used() == 0);
  }
}
