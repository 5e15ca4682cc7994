#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/posix_file_system.h"
#include "store/lookup.h"
#include "store/references.h"
#include "trees.h"

using namespace cachetool;
using namespace cachetool::store;
using namespace store_tests;
namespace stdfs = std::filesystem;

namespace {

/// Unpacked caches of real releases: those in $CACHETOOL_CORPORA_DIR, else some that the repository carries.
class Corpora {
 public:
  Corpora() {
    if (const char* given = std::getenv("CACHETOOL_CORPORA_DIR")) {
      root_ = given;
      return;
    }
    MESSAGE("CACHETOOL_CORPORA_DIR is not set: only some of the carried caches are read");
    scratch_ = stdfs::temp_directory_path() / ("cachetool-corpora-" + std::to_string(::getpid()));
    root_ = scratch_;
    const std::string command =
        std::string(CACHETOOL_TEST_DATA) + "/unpack.sh " + scratch_.string() +
        " cpu-2.15.0-cppwrapper cpu-2.6.0-train cpu-2.9.1-bundled cuda-2.15.0-userkernel"
        " cuda-2.15.0-maxautotune cuda-2.6.0-eligible cuda-2.9.1-train triton-3.2.0 vllm-0.33.0"
        " >/dev/null";
    REQUIRE(std::system(command.c_str()) == 0);
  }
  ~Corpora() {
    if (!scratch_.empty()) stdfs::remove_all(scratch_);
  }

  /// Every directory called "cache" that isn't inside another one, sorted.
  std::vector<std::string> caches() const {
    std::vector<std::string> found;
    for (auto at = stdfs::recursive_directory_iterator(root_); at != stdfs::recursive_directory_iterator();
         ++at) {
      if (!at->is_directory() || at->path().filename() != "cache") continue;
      found.push_back(at->path().string());
      at.disable_recursion_pending();
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  stdfs::path root_;
  stdfs::path scratch_;
};

std::size_t files_below(const std::string& directory) {
  std::size_t count = 0;
  for (const auto& entry : stdfs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) ++count;
  }
  return count;
}

bool is_inside_unpacked_artifact(const std::string& path) {
  return path.find("/artifact_") != std::string::npos;
}

}  // namespace

TEST_SUITE("store/corpora") {
  TEST_CASE("every file of every real cache is classified, every reference found") {
    const Corpora corpora;
    const auto fs = make_posix_file_system();
    ThreadPool pool(2);
    std::map<std::string, std::size_t> units;
    std::size_t files = 0;
    std::size_t entries = 0;
    std::size_t by_design = 0;
    const auto caches = corpora.caches();
    CHECK(caches.size() >= 9);
    for (const std::string& path : caches) {
      CAPTURE(path);
      const auto source = open_source(*fs, path);
      REQUIRE(source);
      Recorder recorder;
      CHECK(source->walk({}, recorder));
      CHECK(recorder.left_out.empty());
      CHECK(recorder.found.size() == files_below(path));
      for (const std::string& found : recorder.found) {
        CAPTURE(found);
        CHECK_FALSE(found.starts_with("unknown "));
        CHECK_FALSE(found.starts_with("triton-other "));
      }
      files += recorder.found.size();

      // These caches were altered on purpose: files deleted, cut short or pruned between two runs.
      const bool altered = path.find("misses-") != std::string::npos;
      std::vector<Skipped> skipped;
      std::string buffer;
      for (const KeyRef& key : source->keys(skipped)) {
        const auto listing = source->open_key(key);
        REQUIRE(listing);
        for (const EntryRef& entry : listing->entries) {
          REQUIRE(source->read_entry(entry, std::uint64_t{1} << 30, buffer));
          if (entry.leaf != "entry" && !altered) CHECK(torch::content_hash(buffer).str() == entry.leaf);
          ++entries;
        }
      }
      CHECK(skipped.empty());

      const auto index = ReferenceIndex::build(*source, pool);
      REQUIRE(index);
      for (const Unit& unit : index->units()) ++units[std::string(unit_kind_name(unit.kind))];
      for (const MissingReference& missing : index->missing()) {
        const Unit& from = index->unit(missing.from);
        CAPTURE(from.path);
        CAPTURE(missing.name);
        // Unpacked artifacts of vLLM carry graphs and wrappers only; the kernels are built again where they
        // are used.
        const bool expected =
            missing.kind == Unit::Kind::kCppKernel && is_inside_unpacked_artifact("/" + from.path);
        if (!altered) CHECK(expected);
        if (expected) ++by_design;
      }
      if (!altered) {
        for (const Skipped& item : index->skipped()) {
          CAPTURE(item.path);
          CAPTURE(item.error.message);
          CHECK(false);
        }
      }
    }
    std::string table;
    for (const auto& [kind, count] : units) table += " " + kind + " " + std::to_string(count);
    MESSAGE(caches.size(), " caches, ", files, " files, ", entries, " entries; units:", table,
            "; kernels left out by design: ", by_design);
  }
}
