#include "verify/repair.h"

#include <doctest/doctest.h>

#include <string>

#include "base/fault_file_system.h"
#include "store/source.h"
#include "unit/verify/run.h"

using namespace cachetool;
using namespace verify_tests;

namespace {

const std::string kLibrary = "ab/cabcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrs.main.so";

bool in_place(FileSystem& fs) {
  const auto dir = fs.open_dir(**fs.open_root("/"), *Name::parse("ab"));
  return dir && fs.stat(**dir, *Name::parse("cabcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrs.main.so"));
}

std::size_t errors_in(FileSystem& fs) {
  const verify::Result result = verify_tree(fs, "/");
  return static_cast<std::size_t>(
      std::count_if(result.findings.begin(), result.findings.end(), [](const verify::Finding& finding) {
        return finding.severity == verify::Severity::kError && !finding.repair.empty();
      }));
}

/// A repair that ends at its call number `killed_at` of the file system; false when it came to its end.
bool repair_until(FileSystem& below, std::uint64_t killed_at) {
  const verify::Result result = verify_tree(below, "/");
  const auto source = store_tests::open_source(below, "/");
  auto repairs = verify::plan_repair(below, source->cache(), result);
  FaultFileSystem fs(below);
  fs.fail_from(killed_at, Error{ErrorCode::kIo, "the device is gone", {}, {}, {}});
  verify::execute_repair(fs, source->cache(), repairs, {});
  return fs.calls() >= killed_at;
}

}  // namespace

TEST_SUITE("verify repair") {
  TEST_CASE("a repair that was cut off is settled before the cache is looked at") {
    bool was_missing = false;
    bool was_put_back = false;
    for (std::uint64_t killed_at = 1;; ++killed_at) {
      CAPTURE(killed_at);
      MemoryFileSystem fs;
      fs.add_file("fxgraph/ab/x", "");
      fs.add_file(kLibrary, "no library");
      REQUIRE(errors_in(fs) == 1);
      const bool cut_off = repair_until(fs, killed_at);
      const bool missing = !in_place(fs);
      const auto source = store_tests::open_source(fs, "/");
      CHECK(verify::settle_earlier(fs, source->cache(), 0).empty());
      CHECK(errors_in(fs) == (in_place(fs) ? 1 : 0));
      was_missing = was_missing || missing;
      was_put_back = was_put_back || (missing && in_place(fs));
      if (!cut_off) break;
    }
    CHECK(was_missing);
    CHECK(was_put_back);
  }
}
