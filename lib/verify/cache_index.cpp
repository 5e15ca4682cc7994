#include "verify/cache_index.h"

#include <algorithm>

#include "store/best_config_name.h"
#include "store/classify.h"
#include "store/paths.h"

namespace cachetool::verify {
namespace {

using Kind = store::ArtifactKind;

std::string_view up(std::string_view path, int levels) {
  for (; levels > 0; --levels) path = store::directory_of(path);
  return path;
}

std::string place_of(const StorePlace& store, std::string_view name = {}) {
  std::string place = std::to_string(store.root);
  place += '/';
  place += store.path;
  place += '\n';
  place += name;
  return place;
}

std::string_view stem_of(std::string_view name) {
  return name.substr(0, name.find('.'));
}

}  // namespace

CacheIndex::CacheIndex(const CacheFacts& cache) : cache_(cache), inventory_(cache.inventory) {
  for (DirectoryId id = 0; id < inventory_.directories().size(); ++id) {
    const Inventory::Directory& directory = inventory_.directory(id);
    const std::string_view name = store::name_of(directory.path);
    const Kind first = inventory_.file(directory.first).kind;
    if (store::is_triton_directory_name(name) && first >= Kind::kTritonMetadata &&
        first <= Kind::kTritonOther)
      triton_[std::string(name)].push_back(id);
  }
  for (FileId id = 0; id < inventory_.files().size(); ++id) add(id);
  link_best_configs();
}

void CacheIndex::add(FileId id) {
  const Kind kind = inventory_.file(id).kind;
  if (const auto* source = cache_.get<CppSourceFacts>(id)) {
    add_cpp_source(id, *source);
  } else if (kind == Kind::kCppSource || kind == Kind::kOptimizedSource) {
    add_unread_source(id);
  }
  if (const auto* text = cache_.get<TritonTextFacts>(id)) add_triton_text(id, *text);
  if (kind == Kind::kSharedObject && inventory_.file(id).hash) add_library(id);
}

void CacheIndex::add_cpp_source(FileId id, const CppSourceFacts& source) {
  if (source.is_isa_probe) return;
  const StorePlace store = store_of_shard_file(id);
  stores_[place_of(store)].has_cpp_kernels = true;
  cpp_sources_[place_of(store, source.fingerprint.str())].push_back(id);
}

void CacheIndex::add_unread_source(FileId id) {
  Store& store = stores_[place_of(store_of_shard_file(id))];
  store.has_cpp_kernels = true;
  ++store.unread_sources;
}

void CacheIndex::add_library(FileId id) {
  const std::vector<FileId> files = stem_files(id);
  const bool has_source = std::any_of(files.begin(), files.end(), [&](FileId other) {
    const Kind kind = inventory_.file(other).kind;
    return kind == Kind::kCppSource || kind == Kind::kOptimizedSource || kind == Kind::kCutlass;
  });
  if (has_source) return;  // a kernel's or a probe's: the source tells
  Store& store = stores_[place_of(store_of_shard_file(id))];
  store.has_cpp_kernels = true;
  ++store.libraries_without_source;
}

void CacheIndex::add_triton_text(FileId id, const TritonTextFacts& text) {
  if (!text.module) return;
  const std::string_view name = store::name_of(inventory_.directory_of(id).path);
  if (!store::is_triton_directory_name(name)) return;
  if (!module_of_directory_.emplace(name, *text.module).second) return;
  module_directories_[*text.module].emplace_back(name);
}

StorePlace CacheIndex::store_of_entry(FileId entry) const {
  const int levels = inventory_.file(entry).kind == Kind::kFxGraphEntry ? 3 : 2;
  const Inventory::Directory& directory = inventory_.directory_of(entry);
  return {directory.root, std::string(up(directory.path, levels))};
}

StorePlace CacheIndex::store_of_shard_file(FileId file) const {
  const Inventory::Directory& directory = inventory_.directory_of(file);
  return {directory.root, std::string(up(directory.path, 1))};
}

std::vector<FileId> CacheIndex::graphs(const StorePlace& store, const torch::HashName& key) const {
  const std::string name = key.str();
  const std::string shard = store::join_path(store.path, "fxgraph/" + name.substr(1, 2));
  std::vector<FileId> found;
  const auto directory = inventory_.find_directory(store.root, store::join_path(shard, name));
  if (!directory) return found;
  for (FileId id = inventory_.directory(*directory).first; id < inventory_.directory(*directory).last; ++id)
    if (inventory_.file(id).kind == Kind::kFxGraphEntry) found.push_back(id);
  return found;
}

std::optional<FileId> CacheIndex::module(const StorePlace& store, const torch::HashName& stem) const {
  const std::string name = stem.str();
  return inventory_.find(store.root, store::join_path(store.path, name.substr(1, 2) + "/" + name + ".py"));
}

std::vector<FileId> CacheIndex::stem_files(FileId file) const {
  const Inventory::Directory& directory = inventory_.directory_of(file);
  const std::string begin = std::string(stem_of(inventory_.file(file).name)) + '.';
  // Names of a directory are in bytewise order.
  const auto files = inventory_.files().subspan(directory.first, directory.last - directory.first);
  auto found =
      std::lower_bound(files.begin(), files.end(), begin,
                       [](const Inventory::File& a, const std::string& wanted) { return a.name < wanted; });
  std::vector<FileId> ids;
  for (; found != files.end() && found->name.starts_with(begin); ++found)
    ids.push_back(directory.first + static_cast<FileId>(found - files.begin()));
  return ids;
}

std::span<const FileId> CacheIndex::cpp_sources(const StorePlace& store,
                                                const torch::HashName& fingerprint) const {
  const auto found = cpp_sources_.find(place_of(store, fingerprint.str()));
  if (found == cpp_sources_.end()) return {};
  return found->second;
}

std::size_t CacheIndex::libraries_without_source(const StorePlace& store) const {
  const auto found = stores_.find(place_of(store));
  return found == stores_.end() ? 0 : found->second.libraries_without_source;
}

std::size_t CacheIndex::unread_sources(const StorePlace& store) const {
  const auto found = stores_.find(place_of(store));
  return found == stores_.end() ? 0 : found->second.unread_sources;
}

bool CacheIndex::has_cpp_kernels(const StorePlace& store) const {
  const auto found = stores_.find(place_of(store));
  return found != stores_.end() && found->second.has_cpp_kernels;
}

std::span<const DirectoryId> CacheIndex::triton_directories(std::string_view name) const {
  const auto found = triton_.find(std::string(name));
  if (found == triton_.end()) return {};
  return found->second;
}

std::span<const std::string> CacheIndex::directories_of_module(const torch::HashName& module) const {
  const auto found = module_directories_.find(module);
  if (found == module_directories_.end()) return {};
  return found->second;
}

CacheIndex::Tuned CacheIndex::is_tuned(FileId module) const {
  if (results_.contains(module)) return Tuned::kYes;
  return unclaimed_shards_.contains(inventory_.file(module).directory) ? Tuned::kUnknown : Tuned::kNo;
}

std::span<const FileId> CacheIndex::results_of_module(FileId module) const {
  const auto found = results_.find(module);
  if (found == results_.end()) return {};
  return found->second;
}

/// A result lies beside its module. Which module it is for follows from its name where the build is known,
/// else from the Triton directory that it names.
void CacheIndex::link_best_configs() {
  for (DirectoryId id = 0; id < inventory_.directories().size(); ++id) {
    const Inventory::Directory& directory = inventory_.directory(id);
    std::unordered_set<FileId> unclaimed;
    for (FileId file = directory.first; file < directory.last; ++file)
      if (inventory_.file(file).kind == Kind::kBestConfig) unclaimed.insert(file);
    if (unclaimed.empty()) continue;
    for (FileId file = directory.first; file < directory.last; ++file)
      if (inventory_.file(file).kind == Kind::kPythonModule) claim_named_configs(file, unclaimed);
    for (const FileId config : unclaimed) {
      const auto* facts = cache_.get<BestConfigFacts>(config);
      const auto module =
          facts == nullptr ? module_of_directory_.end() : module_of_directory_.find(facts->triton_directory);
      const auto owner =
          module == module_of_directory_.end()
              ? std::nullopt
              : inventory_.find(directory.root,
                                store::join_path(directory.path, module->second.str() + ".py"));
      if (owner) {
        results_[*owner].push_back(config);
      } else {
        unclaimed_shards_.insert(id);
      }
    }
  }
}

void CacheIndex::claim_named_configs(FileId module, std::unordered_set<FileId>& unclaimed) {
  const Inventory::Directory& directory = inventory_.directory_of(module);
  for (const std::string& name : store::best_config_names(stem_of(inventory_.file(module).name))) {
    const auto config = inventory_.find(directory.root, store::join_path(directory.path, name));
    if (!config || inventory_.file(*config).kind != Kind::kBestConfig) continue;
    unclaimed.erase(*config);
    results_[module].push_back(*config);
  }
}

std::string entry_name(const Inventory& inventory, FileId entry) {
  return std::string(store::name_of(inventory.directory_of(entry).path)) + '/' + inventory.file(entry).name;
}

}  // namespace cachetool::verify
