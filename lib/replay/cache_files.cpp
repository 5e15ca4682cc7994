#include "replay/cache_files.h"

#include "store/paths.h"
#include "store/triton_home.h"

namespace cachetool::replay {
namespace {

// Something on the way that is no directory hides a file as well as its absence does.
bool says_missing(const Error& error) {
  return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kNotRegular ||
         error.code == ErrorCode::kVanished;
}

}  // namespace

Place CacheFiles::below_store(std::string_view path) const {
  const store::EntryStore& store = source_.cache().stores[store_];
  return {store::join_path(store.path, path), store.root};
}

std::optional<Place> CacheFiles::kernel_directory(std::int64_t device, std::string_view name) {
  if (!Name::parse(name)) return std::nullopt;
  const auto home = store::triton_home(source_, store_, device);
  if (!home) return std::nullopt;
  if (!first_device_) first_device_ = device;
  if (only_first_device_ && device != *first_device_) {
    const auto first = store::triton_home(source_, store_, *first_device_);
    if (!first || first->path != home->path) return std::nullopt;
  }
  return Place{store::join_path(home->path, name), home->root};
}

Place CacheFiles::in(const Place& directory, std::string_view name) {
  return {store::join_path(directory.path, name), directory.root};
}

std::optional<bool> CacheFiles::exists(const Place& file) const {
  if (written_.contains(full(file))) return true;
  if (!file.root) return std::nullopt;
  const auto stat = source_.stat_file(*file.root, file.path);
  if (!stat) return says_missing(stat.error()) ? std::optional(false) : std::nullopt;
  // Where a link leads isn't looked at.
  return stat->type == FileType::kSymlink ? std::nullopt : std::optional(true);
}

std::optional<bool> CacheFiles::holds_something(const Place& directory) const {
  if (written_.contains(full(directory))) return true;
  if (!directory.root) return std::nullopt;
  const auto empty = source_.is_empty_directory(*directory.root, directory.path);
  if (empty) return !*empty;
  return empty.error().code == ErrorCode::kNotFound ? std::optional(false) : std::nullopt;
}

void CacheFiles::add(const Place& directory, std::string_view name) {
  written_.insert(full(directory));
  if (!name.empty()) written_.insert(full(in(directory, name)));
}

std::string CacheFiles::shown(const Place& place) const {
  return place.root == source_.cache().stores[store_].root ? place.path : full(place);
}

std::string CacheFiles::full(const Place& place) const {
  return place.root ? store::full_path(source_.cache(), *place.root, place.path) : place.path;
}

}  // namespace cachetool::replay
