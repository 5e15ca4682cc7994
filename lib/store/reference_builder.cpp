#include "store/reference_builder.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/budget.h"
#include "store/lookup.h"
#include "store/paths.h"
#include "torch/decode.h"

namespace cachetool::store {
namespace {

// How far the workers may be ahead of the thread that links.
constexpr std::size_t kWindow = 256;

std::string_view parent_path(std::string_view path, int levels) {
  for (; levels > 0; --levels) path = directory_of(path);
  return path;
}

bool is_triton_file(ArtifactKind kind) {
  return kind >= ArtifactKind::kTritonMetadata && kind <= ArtifactKind::kTritonOther;
}

/// Whether a file makes its Triton directory a kernel's.
bool is_kernel_file(ArtifactKind kind) {
  return is_triton_file(kind) && kind <= ArtifactKind::kTritonBinary;
}

/// One key's entries, read and decoded on a worker.
struct ReadKey {
  struct Item {
    std::string path;
    std::optional<EntryLinks> links;
    Error error;
  };
  std::vector<Item> items;
  std::optional<Error> error;
};

ReadKey read_key(Source& source, const KeyRef& key, std::uint64_t max_bytes) {
  ReadKey result;
  auto listing = source.open_key(key);
  if (!listing) {
    result.error = std::move(listing.error());
    return result;
  }
  std::string buffer;
  for (const EntryRef& entry : listing->entries) {
    ReadKey::Item item;
    item.path = entry_path(source.cache(), entry);
    if (auto read = source.read_entry(entry, max_bytes, buffer); !read) {
      item.error = std::move(read.error());
    } else {
      Budget budget = Budget::for_input(buffer.size());
      auto decoded = torch::decode_entry(buffer, budget);
      if (decoded) {
        item.links = links_of(*decoded);
      } else {
        item.error = std::move(decoded.error());
      }
    }
    result.items.push_back(std::move(item));
  }
  return result;
}

}  // namespace

std::string place_key(std::uint32_t root, std::string_view path) {
  std::string key = std::to_string(root);
  key += '/';
  key += path;
  return key;
}

Expected<ReferenceIndex> ReferenceBuilder::build() {
  for (const Root& root : source_.cache().roots) index_.roles_.push_back(root.role);
  WalkOptions options;
  options.whole_roots = true;
  if (auto walked = source_.walk(options, *this); !walked) return tl::unexpected(std::move(walked.error()));
  read_sources();
  read_triton_directories();
  read_best_configs();
  link_gpu_binaries();
  read_entries();
  index_.finish(std::move(links_));
  return std::move(index_);
}

bool ReferenceBuilder::artifact(const Artifact& artifact) {
  const auto place = unit_place({artifact.kind, artifact.hash}, artifact.path);
  if (!place || place->is_lock) return true;
  const UnitId id = unit_for(artifact.root, *place);
  Unit& unit = index_.units_[id];
  ++unit.files;
  if (artifact.stat) {
    bool first_name = true;
    if (artifact.stat->links > 1) {
      first_name = hard_links_
                       .insert(place_key(static_cast<std::uint32_t>(artifact.stat->device),
                                         std::to_string(artifact.stat->inode)))
                       .second;
    }
    if (first_name) {
      unit.bytes += artifact.stat->size;
      unit.allocated_bytes += artifact.stat->allocated_bytes;
    }
    unit.newest_mtime_ns = std::max(unit.newest_mtime_ns, artifact.stat->mtime_ns);
  }
  if (unit.kind == Unit::Kind::kTritonSupport && is_kernel_file(artifact.kind)) {
    unit.kind = Unit::Kind::kTritonDirectory;
  }
  remember_to_read(artifact, id);
  return true;
}

UnitId ReferenceBuilder::unit_for(std::uint32_t root, const UnitPlace& place) {
  const auto id = static_cast<UnitId>(index_.units_.size());
  const auto [found, added] = index_.by_path_.try_emplace(place_key(root, place.path), id);
  if (!added) return found->second;
  Unit unit;
  unit.kind = place.kind == Unit::Kind::kTritonDirectory ? Unit::Kind::kTritonSupport : place.kind;
  unit.root = root;
  unit.path = place.path;
  index_.units_.push_back(std::move(unit));
  index_.by_name_[std::string(name_of(place.path))].push_back(id);
  switch (place.kind) {
    case Unit::Kind::kFxGraph:
      by_key_[place_key(root, parent_path(place.path, 1))].push_back(id);
      break;
    case Unit::Kind::kPythonModule:
      modules_of_shard_[place_key(root, parent_path(place.path, 1))].push_back(id);
      break;
    default:
      break;
  }
  return id;
}

void ReferenceBuilder::remember_to_read(const Artifact& artifact, UnitId unit) {
  const Pending pending{unit, std::string(artifact.path)};
  switch (artifact.kind) {
    case ArtifactKind::kCppSource:
    case ArtifactKind::kOptimizedSource:
      sources_.push_back(pending);
      break;
    case ArtifactKind::kTritonIr:
      if (!artifact.path.ends_with(".ttir")) break;
      [[fallthrough]];
    case ArtifactKind::kTritonSource:
      triton_texts_.push_back(pending);
      break;
    case ArtifactKind::kTritonBinary:
      triton_binaries_.push_back(pending);
      break;
    case ArtifactKind::kBestConfig:
      best_configs_.push_back(pending);
      break;
    case ArtifactKind::kGpuBinary:
      gpu_binaries_.push_back(pending);
      break;
    default:
      break;
  }
}

void ReferenceBuilder::read_each(const std::vector<Pending>& files,
                                 const std::function<void(std::size_t, std::string_view)>& use) {
  std::vector<std::unique_ptr<std::string>> texts(files.size());
  std::vector<std::optional<Error>> errors(files.size());
  const auto work = [&](std::size_t i) {
    auto text = std::make_unique<std::string>();
    auto read = source_.read_file(unit(files[i].unit).root, files[i].path, options_.max_source_bytes, *text);
    if (read) {
      texts[i] = std::move(text);
    } else {
      errors[i] = std::move(read.error());
    }
  };
  const auto deliver = [&](std::size_t i) {
    if (errors[i]) {
      Error error = std::move(*errors[i]);
      if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kVanished;
      index_.skipped_.push_back(
          {unit(files[i].unit).root, files[i].path, FileType::kRegular, std::move(error)});
    } else {
      use(i, *texts[i]);
      texts[i].reset();
    }
    return true;
  };
  ordered_parallel(pool_, files.size(), kWindow, work, deliver);
}

std::optional<UnitId> ReferenceBuilder::find_stem(const std::string& store,
                                                  const torch::HashName& hash) const {
  const std::string stem = hash.str();
  const auto found =
      index_.by_path_.find(join_path(join_path(store, std::string_view(stem).substr(1, 2)), stem));
  if (found == index_.by_path_.end()) return std::nullopt;
  return found->second;
}

void ReferenceBuilder::read_entries() {
  // Entries that a file packs are no units of their own: the file comes and goes as a whole.
  std::vector<KeyRef> keys = source_.keys(index_.skipped_);
  std::erase_if(keys, [&](const KeyRef& key) { return source_.cache().stores[key.store].is_file(); });
  std::vector<std::unique_ptr<ReadKey>> results(keys.size());
  const auto work = [&](std::size_t i) {
    results[i] = std::make_unique<ReadKey>(read_key(source_, keys[i], options_.max_entry_bytes));
  };
  const auto deliver = [&](std::size_t i) {
    const std::uint32_t root = source_.cache().stores[keys[i].store].root;
    const ReadKey& result = *results[i];
    if (result.error)
      index_.skipped_.push_back({root, result.error->path, FileType::kDirectory, *result.error});
    for (const ReadKey::Item& item : result.items) {
      const auto found = index_.by_path_.find(place_key(root, item.path));
      if (!item.links) {
        index_.skipped_.push_back({root, item.path, FileType::kRegular, item.error});
      } else if (found != index_.by_path_.end()) {
        link_entry(found->second, *item.links);
      }
    }
    results[i].reset();
    return true;
  };
  ordered_parallel(pool_, keys.size(), kWindow, work, deliver);
}

void ReferenceBuilder::link_entry(UnitId entry, const EntryLinks& links) {
  const bool sharded = unit(entry).kind == Unit::Kind::kFxGraph;
  const std::string store = place_key(unit(entry).root, parent_path(unit(entry).path, sharded ? 4 : 3));
  for (const torch::HashName& graph : links.graphs) {
    const std::string key = graph.str();
    const std::string shard = join_path(join_path(store, "fxgraph"), std::string_view(key).substr(1, 2));
    const auto found = by_key_.find(join_path(shard, key));
    if (found == by_key_.end()) {
      miss(entry, Unit::Kind::kFxGraph, key);
      continue;
    }
    for (const UnitId candidate : found->second) link(entry, candidate);
  }
  for (const GraphLinks& graph : links.compiled) link_graph(entry, store, graph);
}

void ReferenceBuilder::link_graph(UnitId entry, const std::string& store, const GraphLinks& graph) {
  UnitId anchor = entry;
  if (graph.wrapper) {
    if (const auto wrapper = find_stem(store, *graph.wrapper)) {
      link(entry, *wrapper);
      index_.units_[*wrapper].kind = Unit::Kind::kWrapper;
      anchor = *wrapper;
    } else {
      miss(entry, Unit::Kind::kWrapper, graph.wrapper->str());
    }
  }
  std::unordered_set<UnitId> modules;
  for (const TritonReference& kernel : graph.triton_modules) {
    if (const auto module = find_stem(store, kernel.module)) {
      link(anchor, *module);
      if (*module != anchor) index_.units_[*module].kind = Unit::Kind::kTritonModule;
      modules.insert(*module);
    } else {
      miss(anchor, Unit::Kind::kTritonModule, kernel.module.str());
    }
  }
  for (const CppReference& kernel : graph.cpp_kernels) {
    const auto found = by_fingerprint_.find(join_path(store, kernel.fingerprint.str()));
    if (found == by_fingerprint_.end()) {
      miss(anchor, Unit::Kind::kCppKernel, kernel.name);
      continue;
    }
    for (const UnitId library : found->second) link(anchor, library);
  }
  for (const std::string& name : graph.triton_directories) {
    const auto found = index_.by_name_.find(name);
    if (found == index_.by_name_.end()) {
      miss(entry, Unit::Kind::kTritonDirectory, name);
      continue;
    }
    for (const UnitId directory : found->second) {
      const auto module = module_of_directory_.find(directory);
      const bool through_module = module != module_of_directory_.end() && modules.contains(module->second);
      if (!through_module) link(entry, directory);
    }
  }
}

}  // namespace cachetool::store
