#include "verify/verify.h"

#include <algorithm>
#include <tuple>

#include "store/paths.h"
#include "verify/cache_facts.h"
#include "verify/file_checks.h"
#include "verify/scope.h"

namespace cachetool::verify {
namespace {

// How many directories may be between reading and collecting.
constexpr std::size_t kWindow = 256;

/// What one directory's files came to, on its way from a worker.
struct DirectoryResult {
  std::vector<Finding> findings;
  CoverageTable coverage;
  std::vector<store::Skipped> skipped;
};

/// Reads the files of a cache, directory by directory, and keeps what is said about them.
class FilePass {
 public:
  FilePass(FileSystem& fs, const Inventory& inventory, const Options& options)
      : fs_(fs),
        inventory_(inventory),
        options_(options),
        facts_(inventory.files().size()),
        read_(inventory.files().size(), 0),
        results_(inventory.directories().size()) {}

  Status run(ThreadPool& pool, Result& result) {
    bool stopped = false;
    ordered_parallel(
        pool, inventory_.directories().size(), kWindow, [&](std::size_t i) { read_directory(i); },
        [&](std::size_t i) {
          collect(results_[i], result);
          results_[i] = {};
          const std::uint64_t done = inventory_.directories()[i].last;
          if (options_.progress && !options_.progress(done, inventory_.files().size())) stopped = true;
          return !stopped;
        });
    if (stopped) return fail(ErrorCode::kInterrupted, "interrupted");
    return {};
  }

  CacheFacts facts() const { return {inventory_, facts_, read_, options_}; }

 private:
  void read_directory(std::size_t index) {
    const Inventory::Directory& directory = inventory_.directories()[index];
    DirectoryResult& result = results_[index];
    DirHandle handle;
    std::string buffer;
    for (FileId id = directory.first; id < directory.last; ++id) {
      const FileCheck check = file_check_for(inventory_.file(id).kind);
      if (check == nullptr) continue;
      if (!handle) {
        auto opened =
            store::open_below(fs_, inventory_.cache().roots[directory.root].directory, directory.path);
        if (!opened)
          return skip(result, directory.root, directory.path, FileType::kDirectory,
                      std::move(opened.error()));
        handle = std::move(*opened);
      }
      read_file(id, *handle, check, buffer, result);
    }
  }

  void read_file(FileId id, const Directory& directory, FileCheck check, std::string& buffer,
                 DirectoryResult& result) {
    const std::uint32_t root = inventory_.root_of(id);
    FileReport report(root, inventory_.path(id));
    auto input = FileInput::open(fs_, inventory_, id, directory, options_, buffer);
    if (!input) return skip(result, root, report.path(), FileType::kRegular, std::move(input.error()));
    auto facts = check(*input, report);
    if (!facts) return skip(result, root, report.path(), FileType::kRegular, std::move(facts.error()));
    facts_[id] = std::move(*facts);
    read_[id] = 1;
    if (!inventory_.file(id).in_scope) return;
    merge_coverage(result.coverage, report.coverage());
    for (Finding& finding : report.take_findings()) result.findings.push_back(std::move(finding));
  }

  static void skip(DirectoryResult& result, std::uint32_t root, const std::string& path, FileType type,
                   Error error) {
    result.skipped.push_back({root, path, type, std::move(error)});
  }

  static void collect(DirectoryResult& from, Result& to) {
    merge_coverage(to.coverage, from.coverage);
    std::move(from.findings.begin(), from.findings.end(), std::back_inserter(to.findings));
    std::move(from.skipped.begin(), from.skipped.end(), std::back_inserter(to.skipped));
  }

  FileSystem& fs_;
  const Inventory& inventory_;
  const Options& options_;
  std::vector<Facts> facts_;
  std::vector<std::uint8_t> read_;
  std::vector<DirectoryResult> results_;
};

void sort_findings(std::vector<Finding>& findings) {
  const auto order = [](const Finding& finding) {
    return std::tuple(-static_cast<int>(finding.severity), finding.check->id, finding.root,
                      std::string_view(finding.path), finding.offset.value_or(0),
                      std::string_view(finding.message));
  };
  std::sort(findings.begin(), findings.end(),
            [&](const Finding& a, const Finding& b) { return order(a) < order(b); });
}

void count_files(const Inventory& inventory, Result& result) {
  for (const Inventory::File& file : inventory.files()) {
    if (!file.in_scope) continue;
    ++result.files;
    result.bytes += file.stat.size;
    if (store::is_entry(file.kind)) ++result.entries;
  }
}

}  // namespace

std::uint64_t Result::count(Severity severity) const {
  return static_cast<std::uint64_t>(
      std::count_if(findings.begin(), findings.end(),
                    [&](const Finding& finding) { return finding.severity == severity; }));
}

Expected<Result> verify(FileSystem& fs, store::Source& source, ThreadPool& pool, const Options& options) {
  auto inventory = Inventory::make(source);
  if (!inventory) return tl::unexpected(std::move(inventory.error()));
  Result result;
  result.skipped = inventory->skipped();
  FilePass pass(fs, *inventory, options);
  if (auto read = pass.run(pool, result); !read) return tl::unexpected(std::move(read.error()));
  RelationReport relations;
  for (const RelationCheck check : relation_checks()) check(fs, pass.facts(), relations);
  merge_coverage(result.coverage, relations.coverage);
  for (Finding& finding : relations.findings)
    if (concerns_scope(*inventory, finding)) result.findings.push_back(std::move(finding));
  count_files(*inventory, result);
  sort_findings(result.findings);
  return result;
}

}  // namespace cachetool::verify
