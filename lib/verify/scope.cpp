#include "verify/scope.h"

#include <algorithm>

#include "store/lookup.h"
#include "store/paths.h"
#include "verify/cache_index.h"
#include "verify/triton_name.h"

namespace cachetool::verify {
namespace {

using Kind = store::ArtifactKind;

/// Takes things into scope and remembers which are new.
class Intake {
 public:
  explicit Intake(Inventory& inventory) : inventory_(inventory) {}

  void take(FileId id) {
    if (inventory_.file(id).in_scope) return;
    inventory_.set_scope(id, true);
    taken_.push_back(id);
  }
  void take_directory(DirectoryId id) {
    for (FileId file = inventory_.directory(id).first; file < inventory_.directory(id).last; ++file)
      take(file);
  }
  std::vector<FileId> taken() && { return std::move(taken_); }

 private:
  Inventory& inventory_;
  std::vector<FileId> taken_;
};

void take_triton(const CacheIndex& index, Intake& intake, std::string_view directory) {
  for (const DirectoryId id : index.triton_directories(directory)) intake.take_directory(id);
}

void take_graph(const CacheIndex& index, Intake& intake, const StorePlace& store, const GraphFacts& graph) {
  if (graph.links.wrapper)
    if (const auto wrapper = index.module(store, *graph.links.wrapper)) intake.take(*wrapper);
  for (const store::TritonReference& kernel : graph.links.triton_modules)
    if (const auto module = index.module(store, kernel.module)) intake.take(*module);
  for (const store::CppReference& kernel : graph.links.cpp_kernels)
    for (const FileId source : index.cpp_sources(store, kernel.fingerprint))
      for (const FileId file : index.stem_files(source)) intake.take(file);
  for (const BundledKernelFacts& kernel : graph.bundle) take_triton(index, intake, kernel.directory);
  for (const StaticKernelFacts& kernel : graph.static_kernels)
    for (const std::string& name : triton_directory_names(kernel.hash)) take_triton(index, intake, name);
}

}  // namespace

bool is_scoped(const store::CacheSet& cache, const Options& options) {
  return !options.entries.empty() || !cache.scope.empty();
}

void mark_asked(Inventory& inventory, const Options& options) {
  const store::CacheSet& cache = inventory.cache();
  for (FileId id = 0; id < inventory.files().size(); ++id) {
    const bool asked = options.entries.empty() && inventory.root_of(id) == 0 &&
                       store::is_within(cache.scope, inventory.path(id));
    inventory.set_scope(id, asked);
  }
  for (const store::EntryRef& entry : options.entries) {
    const store::EntryStore& store = cache.stores[entry.key.store];
    const auto id =
        inventory.find(store.root, store.is_file() ? store.path : store::entry_path(cache, entry));
    if (id) inventory.set_scope(*id, true);
  }
}

std::vector<FileId> files_to_follow(const Inventory& inventory) {
  std::vector<FileId> ids;
  for (FileId id = 0; id < inventory.files().size(); ++id) {
    switch (inventory.file(id).kind) {
      case Kind::kFxGraphEntry:
      case Kind::kAotAutogradEntry:
        if (inventory.file(id).in_scope) ids.push_back(id);
        break;
      case Kind::kCppSource:
      case Kind::kOptimizedSource:
      case Kind::kTritonIr:
      case Kind::kTritonSource:
      case Kind::kBestConfig:
        ids.push_back(id);
        break;
      default:
        break;
    }
  }
  return ids;
}

std::vector<FileId> take_in_graphs(const CacheFacts& cache, Inventory& inventory) {
  const CacheIndex index(cache);
  Intake intake(inventory);
  for (FileId id = 0; id < inventory.files().size(); ++id) {
    const EntryFacts* entry = cache.entry(id);
    if (entry == nullptr || !inventory.file(id).in_scope) continue;
    for (const GraphReferenceFacts& reference : entry->references)
      for (const FileId graph : index.graphs(index.store_of_entry(id), reference.key)) intake.take(graph);
  }
  return std::move(intake).taken();
}

void take_in_kernels(const CacheFacts& cache, Inventory& inventory) {
  const CacheIndex index(cache);
  Intake intake(inventory);
  for (FileId id = 0; id < inventory.files().size(); ++id) {
    const EntryFacts* entry = cache.entry(id);
    if (entry == nullptr || !inventory.file(id).in_scope) continue;
    for (const GraphFacts& graph : entry->graphs) take_graph(index, intake, index.store_of_entry(id), graph);
  }
  for (FileId id = 0; id < inventory.files().size(); ++id) {
    const Inventory::File& file = inventory.file(id);
    if (!file.in_scope || file.kind != Kind::kPythonModule || !file.hash) continue;
    for (const std::string& directory : index.directories_of_module(*file.hash))
      take_triton(index, intake, directory);
    for (const FileId result : index.results_of_module(id)) intake.take(result);
  }
}

bool concerns_scope(const Inventory& inventory, const Finding& finding) {
  const std::string_view path = std::string_view(finding.path).substr(0, finding.path.find('!'));
  if (const auto file = inventory.find(finding.root, path)) return inventory.file(*file).in_scope;
  const auto directory = inventory.find_directory(finding.root, path);
  if (!directory) return true;  // a tree of several directories: its finding is made from files in scope
  const auto files =
      inventory.files().subspan(inventory.directory(*directory).first,
                                inventory.directory(*directory).last - inventory.directory(*directory).first);
  return std::any_of(files.begin(), files.end(), [](const Inventory::File& file) { return file.in_scope; });
}

}  // namespace cachetool::verify
