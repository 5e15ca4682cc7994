#include "change/torch_locks.h"

#include "store/classify.h"
#include "store/paths.h"

namespace cachetool::change {
namespace {

/// `c` and 51 characters: the directory of an AOTInductor model.
bool is_code_hash(std::string_view name) {
  constexpr std::size_t kLength = 52;
  return name.size() == kLength && name.front() == 'c' && name.find('.') == std::string_view::npos;
}

std::string lock_in(std::string_view directory, std::string_view stem) {
  return store::join_path(store::join_path(directory, "locks"), std::string(stem) + ".lock");
}

}  // namespace

bool is_lock_name(std::string_view name) {
  return name == "lock" || name.ends_with(".lock");
}

std::vector<std::string> torch_locks_of(std::string_view path) {
  const std::string_view name = store::name_of(path);
  const std::string_view directory = store::directory_of(path);
  const std::string_view parent = store::name_of(directory);
  const std::string_view stem = name.substr(0, name.find('.'));
  if (parent == "dynamo") return {std::string(path) + ".lock"};
  if (stem.empty() || stem.size() == name.size()) return {};
  if (name.ends_with(".py") || name.ends_with(".best_config")) return {};
  if (name == "memoizer_cache.json") return {store::join_path(directory, "memoizer_cache.lock")};
  if (parent == "precompiled_headers") return {lock_in(directory, stem)};
  if (store::is_shard_name(parent) || is_code_hash(parent)) {
    return {lock_in(store::directory_of(directory), stem)};
  }
  return {};
}

}  // namespace cachetool::change
