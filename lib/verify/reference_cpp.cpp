#include <algorithm>
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

  /// The kernels that one entry names.
  void check(FileId id, const EntryFacts& entry) {
    const StorePlace store = context_.index.store_of_entry(id);
    std::vector<std::string> missing;
    std::size_t named = 0;
    for (const GraphFacts& graph : entry.graphs) {
      for (const store::CppReference& kernel : graph.links.cpp_kernels) {
        ++named;
        const auto sources = context_.index.cpp_sources(store, kernel.fingerprint);
        if (sources.empty()) {
          missing.push_back(kernel.name.empty() ? "the C++ wrapper" : kernel.name);
        } else if (std::none_of(sources.begin(), sources.end(), [&](FileId f) { return has_library(f); })) {
          library_missing(sources.back(), id, {});
        } else {
          fine_.fine(checks::kCppLibraryMissing);
        }
      }
    }
    if (named == 0) return;
    FileReport report = report_on_entry(context_, id);
    if (missing.empty()) {
      report.fine(checks::kCppKernelMissing);
    } else if (context_.index.unread_sources(store) > 0) {
      report.not_checkable(checks::kCppKernelMissing, "a source that couldn't be read may be the kernel's");
    } else if (context_.index.libraries_without_source(store) >= missing.size()) {
      // Which kernel a library without its source is for can't be told: it may well be this one.
      report.not_checkable(checks::kCppKernelMissing, "a library whose source is gone may be the kernel's");
    } else if (!context_.index.has_cpp_kernels(store)) {
      report.found(
          checks::kCppKernelMissing,
          {"names " + name_some(missing) + "; this cache holds no C++ kernel at all, as after an import"},
          Severity::kInfo);
    } else {
      report.found(checks::kCppKernelMissing,
                   {"names " + name_some(missing) + ", neither source nor library there"});
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
    context_.report.add(std::move(fine_));
  }

 private:
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
  FileReport fine_{0, {}};
  std::unordered_set<FileId> told_;  // the first file of a stem stands for it
};

}  // namespace

void check_cpp_kernels(const ReferenceContext& context) {
  CppRelation relation(context);
  for (const FileId id : entries_to_judge(context)) relation.check(id, *context.cache.entry(id));
  relation.check_files();
}

}  // namespace cachetool::verify
