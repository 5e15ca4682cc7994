#include "verify/scan/scan_tree.h"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "base/fault_file_system.h"
#include "base/memory_file_system.h"
#include "unit/pickle/pickle_bytes.h"
#include "unit/store/trees.h"

using namespace cachetool;
using namespace cachetool::verify;
using pickle::raw;

TEST_SUITE_BEGIN("verify/scan_tree");

namespace {

const std::string kEvil = raw("\x80\x04\x8c\x02os\x8c\x06system\x93)R.");
const std::string kData = raw("\x80\x04]K\x01\x61.");

struct Scanned {
  TreeScan result;
  std::vector<std::string> order;
  std::map<std::string, FileScan> files;
};

Scanned scan(FileSystem& fs, const std::string& path, std::size_t threads = 2, TreeScanOptions options = {}) {
  Scanned scanned;
  auto target = resolve_scan_target(fs, store_tests::plain_environment(), path);
  REQUIRE(target);
  ThreadPool pool(threads);
  options.owners = false;
  auto result = scan_tree(fs, *target, pool, options, [&](const ScannedFile& file) {
    scanned.order.push_back(file.path);
    scanned.files.emplace(file.path, file.scan);
    return true;
  });
  REQUIRE(result);
  scanned.result = std::move(*result);
  return scanned;
}

}  // namespace

TEST_CASE("a directory that is no cache is scanned file by file, hidden ones too, in order") {
  MemoryFileSystem fs;
  fs.add_file("/d/b/evil.txt", kEvil);
  fs.add_file("/d/a.bin", kData);
  fs.add_file("/d/.hidden/x", kEvil);
  fs.add_file("/d/.config/y", kEvil);
  fs.add_file("/d/empty", "");
  const Scanned scanned = scan(fs, "/d");
  CHECK(scanned.order == std::vector<std::string>{".config/y", ".hidden/x", "a.bin", "b/evil.txt", "empty"});
  CHECK(scanned.result.coverage.files == 5);
  CHECK(scanned.result.coverage.files_of(ScanVerdict::kDangerous) == 3);
  CHECK(scanned.result.coverage.files_of(ScanVerdict::kData) == 1);
  CHECK(scanned.result.coverage.bytes == 3 * kEvil.size() + kData.size());
}

TEST_CASE("in a cache the place says what a file is for") {
  MemoryFileSystem fs;
  const std::string key = store_tests::hash_name('f', 'b');
  const std::string entry = store_tests::fx_directory(key) + "/" + store_tests::leaf_name('c');
  fs.add_file("/c/" + entry, "no pickle at all");
  const std::string module = store_tests::shard_file(store_tests::hash_name('c', 'd'), "py");
  fs.add_file("/c/" + module, "x = 1\n");
  fs.add_file("/c/.cachetool/trash/evil", kEvil);
  fs.add_file("/c/.cachetool/quarantine/evil", kEvil);
  fs.add_file("/c/.cachetool/smuggled", kEvil);
  const Scanned scanned = scan(fs, "/c");
  CHECK(scanned.files.at(entry).verdict == ScanVerdict::kMalformed);
  CHECK(scanned.files.at(module).code.at(0).what == "module");
  CHECK(scanned.order.size() == 3);
  CHECK(scanned.files.at(".cachetool/smuggled").verdict == ScanVerdict::kDangerous);
  CHECK(scanned.result.coverage.moved_aside == 2);
}

TEST_CASE("one file is scanned by its content, wherever it lies, through a link too") {
  MemoryFileSystem fs;
  fs.add_file("/downloads/model.txt", kEvil);
  fs.add_file("/downloads/other", kData);
  fs.add_symlink("/here/link", "../downloads/model.txt");
  for (const std::string path : {"/downloads/model.txt", "/here/link"}) {
    const Scanned scanned = scan(fs, path);
    CHECK(scanned.order == std::vector<std::string>{"model.txt"});
    CHECK(scanned.result.coverage.files_of(ScanVerdict::kDangerous) == 1);
  }
  fs.add_symlink("/here/loop", "loop");
  CHECK_FALSE(resolve_scan_target(fs, store_tests::plain_environment(), "/here/loop"));
  CHECK_FALSE(resolve_scan_target(fs, store_tests::plain_environment(), "/here/nothing"));
}

TEST_CASE("what isn't scanned is told and counted; what vanished isn't") {
  MemoryFileSystem fs;
  fs.add_file("/d/good", kData);
  fs.add_file("/d/secret", kData);
  fs.set_error("/d/secret", ErrorCode::kPermission);
  fs.add_symlink("/d/link", "good");
  fs.add_special("/d/pipe", FileType::kFifo);
  fs.add_file("/d/gone", kData);
  fs.set_error("/d/gone", ErrorCode::kNotFound);
  const Scanned scanned = scan(fs, "/d");
  CHECK(scanned.result.coverage.files == 1);
  CHECK(scanned.result.coverage.not_scanned == 3);
  CHECK(scanned.result.skipped.size() == 4);
}

TEST_CASE("a file beyond the limit is unscanned and not read") {
  MemoryFileSystem fs;
  fs.add_file("/d/large", kEvil + std::string(100'000, 'x'));
  TreeScanOptions options;
  options.limits.max_file_bytes = 70'000;
  const Scanned scanned = scan(fs, "/d", 1, options);
  CHECK(scanned.files.at("large").verdict == ScanVerdict::kUnscanned);
  CHECK(scanned.result.coverage.unscanned_bytes == kEvil.size() + 100'000);
}

TEST_CASE("of a large ELF file only the head is read") {
  MemoryFileSystem fs;
  std::string elf = raw("\x7f"
                        "ELF\x02\x01\x01") +
                    std::string(300'000, '\0');
  elf[16] = 3;
  fs.add_file("/d/lib", elf);
  FaultFileSystem watched(fs);
  const Scanned scanned = scan(watched, "/d", 1);
  CHECK(scanned.files.at("lib").code.at(0).what == "shared-object");
  CHECK(scanned.files.at("lib").code.at(0).bytes == elf.size());
}

TEST_CASE("the result doesn't depend on the number of threads") {
  MemoryFileSystem fs;
  for (int i = 0; i < 700; ++i)
    fs.add_file("/d/" + std::to_string(i % 37) + "/" + std::to_string(i), i % 5 == 0 ? kEvil : kData);
  const Scanned one = scan(fs, "/d", 1);
  const Scanned four = scan(fs, "/d", 4);
  CHECK(one.order == four.order);
  CHECK(one.order.size() == 700);
  CHECK(one.result.coverage.files_of(ScanVerdict::kDangerous) == 140);
  CHECK(four.result.coverage.verdicts == one.result.coverage.verdicts);
}

TEST_CASE("a sink that returns false ends the scan; so does progress, as an interruption") {
  MemoryFileSystem fs;
  for (int i = 0; i < 600; ++i) fs.add_file("/d/" + std::to_string(i), kData);
  auto target = resolve_scan_target(fs, store_tests::plain_environment(), "/d");
  REQUIRE(target);
  ThreadPool pool(2);
  TreeScanOptions options;
  options.owners = false;
  std::size_t seen = 0;
  const auto stopped = scan_tree(fs, *target, pool, options, [&](const ScannedFile&) { return ++seen < 10; });
  CHECK(stopped);
  CHECK(seen == 10);
  options.progress = [](std::uint64_t files) { return files < 10; };
  const auto interrupted = scan_tree(fs, *target, pool, options, [](const ScannedFile&) { return true; });
  REQUIRE_FALSE(interrupted);
  CHECK(interrupted.error().code == ErrorCode::kInterrupted);
}

TEST_SUITE_END();
