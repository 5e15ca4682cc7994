#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "unit/verify/run.h"
#include "verify/cache_facts.h"

namespace verify_tests {

/// A tree in memory and, for each of its files, the facts that reading it is said to have given.
class HandMade {
 public:
  cachetool::MemoryFileSystem fs;
  cachetool::verify::Options options;

  HandMade() {
    fs.add_dir("/cache/fxgraph");
    fs.set_now(kNow);
  }

  /// A file below /cache, with its facts.
  void add(const std::string& path, cachetool::verify::Facts facts = {}, std::string_view bytes = "x") {
    fs.add_file("/cache/" + path, bytes);
    age(path, kHour * 48);
    facts_[path] = std::move(facts);
  }
  void age(const std::string& path, std::int64_t ns) {
    fs.change_stat("/cache/" + path, [&](cachetool::FileStat& stat) { stat.mtime_ns = kNow - ns; });
  }

  /// The mark of a file's content, see CacheFacts::contents.
  void mark(const std::string& path, std::uint64_t content) { contents_[path] = content; }

  /// Runs one relation over the tree.
  std::vector<cachetool::verify::Finding> run(cachetool::verify::RelationCheck check) {
    using namespace cachetool::verify;
    const auto source = store_tests::open_source(fs, "/cache");
    auto inventory = Inventory::make(*source);
    std::vector<Facts> facts(inventory->files().size());
    for (FileId id = 0; id < facts.size(); ++id) {
      const auto found = facts_.find(inventory->path(id));
      if (found != facts_.end()) facts[id] = std::move(found->second);
    }
    std::vector<std::uint64_t> contents(facts.size(), 0);
    for (FileId id = 0; id < facts.size(); ++id)
      if (const auto found = contents_.find(inventory->path(id)); found != contents_.end())
        contents[id] = found->second;
    const std::vector<std::uint8_t> read(facts.size(), 1);
    RelationReport report;
    check(fs, CacheFacts{*inventory, facts, read, options, contents}, report);
    coverage = std::move(report.coverage);
    return std::move(report.findings);
  }

  /// "severity id path" of each finding, sorted.
  Lines lines(cachetool::verify::RelationCheck check) {
    cachetool::verify::Result result;
    result.findings = run(check);
    Lines lines = lines_of(result);
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  /// How often the last run found the check not checkable.
  std::uint64_t not_checkable(const cachetool::verify::Check& check) const {
    std::uint64_t count = 0;
    const auto found = coverage.find(&check);
    if (found == coverage.end()) return 0;
    for (const auto& [reason, entry] : found->second.not_checkable) count += entry.count;
    return count;
  }

  cachetool::verify::CoverageTable coverage;

  static constexpr std::int64_t kHour = std::int64_t{3600} * 1'000'000'000;
  static constexpr std::int64_t kNow = kHour * 500'000;

 private:
  std::map<std::string, cachetool::verify::Facts> facts_;
  std::map<std::string, std::uint64_t> contents_;
};

inline cachetool::torch::HashName name_of(const std::string& text) {
  return *cachetool::torch::HashName::parse(text);
}

/// Facts of an FX graph entry with that wrapper.
inline std::unique_ptr<cachetool::verify::EntryFacts> graph_entry(const std::string& wrapper) {
  using namespace cachetool;
  auto facts = std::make_unique<verify::EntryFacts>();
  facts->first = facts->last = torch::ReleaseFamily::k2_9;
  facts->guards = torch::content_hash("");
  verify::GraphFacts graph;
  graph.links.wrapper = name_of(wrapper);
  graph.source = verify::SourceText{name_of(wrapper), 0};
  facts->graphs.push_back(std::move(graph));
  return facts;
}

/// Facts of an AOTAutograd entry that names a forward graph, under no guards.
inline std::unique_ptr<cachetool::verify::EntryFacts> aot_entry(const std::string& graph) {
  using namespace cachetool;
  auto facts = std::make_unique<verify::EntryFacts>();
  facts->kind = torch::EntryKind::kAotAutograd;
  facts->first = facts->last = torch::ReleaseFamily::k2_9;
  facts->references.push_back({name_of(graph), torch::content_hash(""), false});
  return facts;
}

}  // namespace verify_tests
