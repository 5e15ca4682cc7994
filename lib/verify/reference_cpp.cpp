#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "store/locks.h"
#include "store/paths.h"
#include "verify/references.h"

namespace cachetool::verify {
namespace {

using Kind = store::ArtifactKind;

class CppRelation {
 public:
  explicit CppRelation(const ReferenceContext& context) : context_(context) {}

  /// Counts the sources that no entry names: to be called before `check`.
  void count_unnamed() {
    std::unordered_set<FileId> named;
    for (FileId id = 0; id < context_.inventory().files().size(); ++id) {
      const EntryFacts* entry = context_.cache.entry(id);
      if (entry == nullptr) continue;
      const StorePlace store = context_.index.store_of_entry(id);
      for (const GraphFacts& graph : entry->graphs)
        for (const store::CppReference& kernel : graph.links.cpp_kernels)
          for (const FileId source : context_.index.cpp_sources(store, kernel.fingerprint))
            named.insert(source);
    }
    for (FileId id = 0; id < context_.inventory().files().size(); ++id) {
      const auto* source = context_.cache.get<CppSourceFacts>(id);
      if (source != nullptr && !source->is_isa_probe && !named.contains(id))
        ++unnamed_[context_.index.store_of_shard_file(id)];
    }
  }

  /// The kernels that one entry names. What several entries lack is told of the first.
  void check(FileId id, const EntryFacts& entry) {
    const StorePlace store = context_.index.store_of_entry(id);
    FileReport report = report_on_entry(context_, id);
    std::vector<std::string> missing;
    bool whole = false;
    for (const GraphFacts& graph : entry.graphs) {
      for (const store::CppReference& kernel : graph.links.cpp_kernels) {
        const auto sources = context_.index.cpp_sources(store, kernel.fingerprint);
        whole = whole || !sources.empty();
        if (sources.empty()) {
          if (missing_.emplace(store, kernel.fingerprint).second)
            missing.push_back(kernel.name.empty() ? "the C++ wrapper" : kernel.name);
        } else if (std::none_of(sources.begin(), sources.end(), [&](FileId f) { return has_library(f); })) {
          library_missing(sources.back(), id, {});
        } else {
          report.fine(checks::kCppLibraryMissing);
        }
      }
    }
    if (!missing.empty()) {
      kernels_missing(report, store, missing);
    } else if (whole) {
      report.fine(checks::kCppKernelMissing);
    }
    context_.report.add(std::move(report));
  }

  /// Kernels that no entry names, and libraries without a source.
  void check_files() {
    for (FileId id = 0; id < context_.inventory().files().size(); ++id) {
      if (!context_.inventory().file(id).in_scope) continue;
      const auto* source = context_.cache.get<CppSourceFacts>(id);
      if (source != nullptr && !source->is_isa_probe && !has_library(id))
        library_missing(id, {}, Severity::kInfo);
      if (context_.inventory().file(id).kind == Kind::kSharedObject && context_.inventory().file(id).hash)
        check_source_of(id);
    }
  }

 private:
  void kernels_missing(FileReport& report, const StorePlace& store, const std::vector<std::string>& names) {
    const std::string message = "names " + name_some(names);
    const auto unnamed = unnamed_.find(store);
    if (context_.index.unread_sources(store) > 0) {
      report.not_checkable(checks::kCppKernelMissing, "a source that couldn't be read may be the kernel's");
    } else if (context_.index.libraries_without_source(store) >= names.size()) {
      // Which kernel a library without its source is for can't be told: it may well be this one.
      report.not_checkable(checks::kCppKernelMissing, "a library whose source is gone may be the kernel's");
    } else if (!context_.index.has_cpp_kernels(store)) {
      report.found(checks::kCppKernelMissing,
                   {message + "; this cache holds no C++ kernel at all, as after an import"},
                   Severity::kInfo);
    } else if (unnamed != unnamed_.end()) {
      report.found(checks::kCppKernelMissing,
                   {message + "; no source has its text, and " + std::to_string(unnamed->second) +
                    " here belong to no entry: one may have been changed"});
    } else {
      report.found(checks::kCppKernelMissing, {message + ", neither source nor library there"});
    }
  }

  bool has_library(FileId source) const {
    const auto files = context_.index.stem_files(source);
    return std::any_of(files.begin(), files.end(), [&](FileId other) {
      return context_.inventory().file(other).kind == Kind::kSharedObject;
    });
  }

  /// Each stem once, the entries that name it first.
  void library_missing(FileId source, std::optional<FileId> entry, std::optional<Severity> severity) {
    const FileId stem = context_.index.stem_files(source).front();
    if (!told_.insert(stem).second || is_being_compiled(source)) return;
    FileReport report(context_.inventory().root_of(source), context_.inventory().path(source));
    if (entry) report.set_key(entry_name(context_.inventory(), *entry));
    report.found(checks::kCppLibraryMissing,
                 {entry ? "is named by an entry and has no library" : "has no library; no entry names it"},
                 severity);
    context_.report.add(std::move(report));
  }

  void check_source_of(FileId library) {
    const auto files = context_.index.stem_files(library);
    const bool has_source = std::any_of(files.begin(), files.end(), [&](FileId other) {
      const Kind kind = context_.inventory().file(other).kind;
      return kind == Kind::kCppSource || kind == Kind::kOptimizedSource || kind == Kind::kCutlass;
    });
    FileReport report(context_.inventory().root_of(library), context_.inventory().path(library));
    if (has_source) {
      report.fine(checks::kCppSourceMissing);
    } else {
      report.found(checks::kCppSourceMissing,
                   {"has no source beside it, so nothing tells which kernel it is"});
    }
    context_.report.add(std::move(report));
  }

  /// torch holds locks/<stem>.lock while the compiler runs.
  bool is_being_compiled(FileId source) const {
    const StorePlace store = context_.index.store_of_shard_file(source);
    const std::string& name = context_.inventory().file(source).name;
    const std::string lock = name.substr(0, name.find('.')) + ".lock";
    const auto place =
        store::open_parent(context_.fs, context_.inventory().cache().roots[store.root].directory,
                           store::join_path(store.path, "locks/" + lock));
    return place && store::lock_state(context_.fs, *place->directory, place->name) == store::LockState::kHeld;
  }

  const ReferenceContext& context_;
  std::map<StorePlace, std::size_t> unnamed_;
  std::set<std::pair<StorePlace, torch::HashName>> missing_;  // told of an entry
  std::unordered_set<FileId> told_;                           // the first file of a stem stands for it
};

}  // namespace

void check_cpp_kernels(const ReferenceContext& context) {
  CppRelation relation(context);
  relation.count_unnamed();
  for (const FileId id : entries_to_judge(context)) relation.check(id, *context.cache.entry(id));
  relation.check_files();
}

}  // namespace cachetool::verify
