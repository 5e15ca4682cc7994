#include <algorithm>
#include <unordered_set>

#include "store/best_config_name.h"
#include "torch/known_builds.h"
#include "verify/references.h"
#include "verify/source_checks.h"

namespace cachetool::verify {
namespace {

using Kind = store::ArtifactKind;

/// Whether the names of an entry's autotune results can be worked out: up to 2.7 they don't depend on the
/// build of torch, later entries say which it was.
bool has_known_build(const EntryFacts& entry) {
  if (!entry.torch_identity.empty()) return !torch::release_of_identity(entry.torch_identity).empty();
  return entry.last != torch::ReleaseFamily::kUnknown && entry.last <= torch::ReleaseFamily::k2_7;
}

bool builds_are_known(const ReferenceContext& context) {
  bool any = false;
  for (FileId id = 0; id < context.inventory().files().size(); ++id) {
    const EntryFacts* entry = context.cache.entry(id);
    if (entry == nullptr) continue;
    if (!has_known_build(*entry)) return false;
    any = true;
  }
  return any;
}

class ResultNames {
 public:
  explicit ResultNames(const ReferenceContext& context)
      : context_(context), builds_known_(builds_are_known(context)) {}

  void check(const Inventory::Directory& directory) {
    std::unordered_set<FileId> unclaimed;
    for (FileId file = directory.first; file < directory.last; ++file)
      if (context_.inventory().file(file).kind == Kind::kBestConfig && context_.cache.read[file] != 0)
        unclaimed.insert(file);
    if (unclaimed.empty()) return;
    for (FileId file = directory.first; file < directory.last; ++file) {
      if (context_.inventory().file(file).kind != Kind::kPythonModule) continue;
      for (const FileId result : context_.index.results_of_module(file))
        if (unclaimed.erase(result) != 0) judge(file, result);
    }
    for (FileId file = directory.first; file < directory.last; ++file)
      if (unclaimed.contains(file)) cannot_judge(file);
  }

 private:
  void judge(FileId module, FileId result) {
    const std::string& module_name = context_.inventory().file(module).name;
    const std::string& name = context_.inventory().file(result).name;
    const std::vector<std::string> names =
        store::best_config_names(std::string_view(module_name).substr(0, module_name.find('.')));
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      FileReport report = report_on(result);
      report.fine(checks::kBestConfigName);
      return context_.report.add(std::move(report));
    }
    if (!builds_known_) return cannot_judge(result);
    FileReport report = report_on(result);
    report.found(checks::kBestConfigName,
                 {.message = "names a Triton directory of " + module_name +
                             ", and no torch that wrote here looks for that kernel's result under this name",
                  .repair = {report.path()}});
    context_.report.add(std::move(report));
  }

  void cannot_judge(FileId result) {
    FileReport report = report_on(result);
    report.not_checkable(checks::kBestConfigName,
                         "named by a torch build that isn't known, or after a module that is gone");
    context_.report.add(std::move(report));
  }

  FileReport report_on(FileId file) const {
    return {context_.inventory().root_of(file), context_.inventory().path(file)};
  }

  const ReferenceContext& context_;
  bool builds_known_;
};

}  // namespace

void check_result_names(const ReferenceContext& context) {
  if (context.cache.options.depth == Depth::kQuick) return;
  ResultNames names(context);
  for (const Inventory::Directory& directory : context.inventory().directories()) names.check(directory);
}

}  // namespace cachetool::verify
