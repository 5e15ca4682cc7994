#include "verify/verify.h"

#include <algorithm>
#include <tuple>

#include "store/paths.h"
#include "verify/cache_facts.h"
#include "verify/file_pass.h"
#include "verify/follow_ups.h"
#include "verify/scope.h"

namespace cachetool::verify {
namespace {

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

/// What the user asked about and all that it leads to: reads what tells that.
Status find_scope(ThreadPool& pool, FilePass& pass, Inventory& inventory, const Options& options) {
  mark_asked(inventory, options);
  if (auto read = pass.read(pool, files_to_follow(inventory)); !read) return read;
  const std::vector<FileId> graphs = take_in_graphs(pass.facts(), inventory);
  if (auto read = pass.read(pool, graphs); !read) return read;
  take_in_kernels(pass.facts(), inventory);
  return {};
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
  if (is_scoped(inventory->cache(), options)) {
    if (auto found = find_scope(pool, pass, *inventory, options); !found)
      return tl::unexpected(std::move(found.error()));
    std::erase_if(result.skipped, [&](const store::Skipped& skipped) {
      return !options.entries.empty() || !store::is_within(inventory->cache().scope, skipped.path);
    });
  }
  if (auto read = pass.run(pool, result); !read) return tl::unexpected(std::move(read.error()));
  RelationReport relations;
  for (const RelationCheck check : relation_checks()) check(fs, pass.facts(), relations);
  merge_coverage(result.coverage, relations.coverage);
  for (Finding& finding : relations.findings)
    if (concerns_scope(*inventory, finding)) result.findings.push_back(std::move(finding));
  drop_follow_ups(result.findings);
  count_files(*inventory, result);
  sort_findings(result.findings);
  return result;
}

}  // namespace cachetool::verify
