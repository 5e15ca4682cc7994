#include "verify/references.h"

#include <algorithm>

namespace cachetool::verify {

std::vector<FileId> entries_to_judge(const ReferenceContext& context) {
  const Inventory& inventory = context.inventory();
  std::vector<FileId> ids;
  for (FileId id = 0; id < inventory.files().size(); ++id) {
    if (context.cache.entry(id) == nullptr || !inventory.file(id).in_scope) continue;
    if (inventory.cache().roots[inventory.root_of(id)].role == store::RootRole::kSingleFile) continue;
    if (store::is_entry(inventory.file(id).kind)) ids.push_back(id);
  }
  return ids;
}

FileReport report_on_entry(const ReferenceContext& context, FileId entry) {
  FileReport report(context.inventory().root_of(entry), context.inventory().path(entry));
  if (const EntryFacts* facts = context.cache.entry(entry)) report.set_release(facts->first, facts->last);
  report.set_key(entry_name(context.inventory(), entry));
  return report;
}

std::string name_some(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

void check_references(FileSystem& fs, const CacheFacts& cache, RelationReport& report) {
  const CacheIndex index(cache);
  const ReferenceContext context{fs, cache, index, report};
  check_graph_references(context);
  check_modules(context);
  check_cpp_kernels(context);
  check_triton_kernels(context);
  check_tuning(context);
  check_result_names(context);
}

}  // namespace cachetool::verify
