#include <string>

#include "container/json.h"
#include "store/best_config_name.h"
#include "store/paths.h"
#include "store/reference_builder.h"
#include "store/triton_location.h"

namespace cachetool::store {

void ReferenceBuilder::read_sources() {
  read_each(sources_, [&](std::size_t i, std::string_view text) {
    const UnitId id = sources_[i].unit;
    // cpu_vec_isa.py builds functions of such names to see whether the compiler and the CPU know an
    // extension.
    if (text.find("_chk_kernel") != std::string_view::npos &&
        text.find("Python bindings") == std::string_view::npos) {
      index_.units_[id].kind = Unit::Kind::kIsaProbe;
      return;
    }
    const std::string store = place_key(unit(id).root, directory_of(directory_of(unit(id).path)));
    auto& units = by_fingerprint_[join_path(store, file_fingerprint(text).str())];
    if (units.empty() || units.back() != id) units.push_back(id);
  });
}

void ReferenceBuilder::read_triton_directories() {
  read_each(triton_texts_, [&](std::size_t i, std::string_view text) {
    const UnitId directory = triton_texts_[i].unit;
    const auto hash = located_module(text);
    if (!hash || module_of_directory_.contains(directory)) return;
    const auto modules = index_.by_name_.find(hash->str());
    if (modules == index_.by_name_.end()) return;
    for (const UnitId module : modules->second) {
      module_of_directory_.emplace(directory, module);
      link(module, directory);
    }
  });
}

void ReferenceBuilder::read_best_configs() {
  link_best_configs_by_name();
  read_each(best_configs_, [&](std::size_t i, std::string_view text) {
    const UnitId config = best_configs_[i].unit;
    const auto json = container::read_json(text);
    if (!json) return;
    const auto name = json->root().find("triton_cache_hash");
    if (!name) return;
    const auto directories = index_.by_name_.find(std::string(name->text()));
    if (directories == index_.by_name_.end()) return;
    for (const UnitId directory : directories->second) {
      const auto module = module_of_directory_.find(directory);
      if (module == module_of_directory_.end()) {
        link(config, directory);
      } else if (linked_configs_.insert(config).second) {
        link(module->second, config);
      }
    }
  });
  link_best_configs_by_shard();
}

void ReferenceBuilder::link_best_configs_by_name() {
  std::unordered_map<std::string_view, std::vector<UnitId>> configs;
  for (const Pending& config : best_configs_) configs[directory_of(config.path)].push_back(config.unit);
  for (const auto& [shard, units] : configs) {
    const auto modules = modules_of_shard_.find(place_key(unit(units.front()).root, shard));
    if (modules == modules_of_shard_.end()) continue;
    for (const UnitId module : modules->second) {
      for (const std::string& name : best_config_names(name_of(unit(module).path))) {
        const auto found = index_.by_path_.find(place_key(unit(module).root, join_path(shard, name)));
        if (found == index_.by_path_.end()) continue;
        link(module, found->second);
        linked_configs_.insert(found->second);
      }
    }
  }
}

/// A result of an unknown build lies beside its module, so it can only be one of those in the same shard: all
/// of them count as its owners, which never calls it an orphan too early.
void ReferenceBuilder::link_best_configs_by_shard() {
  for (const Pending& config : best_configs_) {
    if (linked_configs_.contains(config.unit)) continue;
    const auto modules = modules_of_shard_.find(place_key(unit(config.unit).root, directory_of(config.path)));
    if (modules == modules_of_shard_.end()) continue;
    for (const UnitId module : modules->second) link(module, config.unit);
  }
}

/// C++ wrappers load copies of Triton's binaries by a path that only the run knows: equal bytes tell which is
/// whose.
void ReferenceBuilder::link_gpu_binaries() {
  if (gpu_binaries_.empty()) return;
  std::unordered_map<std::string, std::vector<UnitId>> directories;
  read_each(triton_binaries_, [&](std::size_t i, std::string_view bytes) {
    directories[torch::content_hash(bytes).str()].push_back(triton_binaries_[i].unit);
  });
  read_each(gpu_binaries_, [&](std::size_t i, std::string_view bytes) {
    const auto found = directories.find(torch::content_hash(bytes).str());
    if (found == directories.end()) return;
    for (const UnitId directory : found->second) link(directory, gpu_binaries_[i].unit);
  });
}

}  // namespace cachetool::store
