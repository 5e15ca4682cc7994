#include "verify/doctor/places.h"

#include <algorithm>
#include <utility>

#include "store/paths.h"

namespace cachetool::verify {
namespace {

/// Tries to lock a lock file that torch left in `locks/`, shared and without waiting. Nothing is created.
void try_locks(FileSystem& fs, Place& place) {
  const std::string path = store::join_path(place.walk.real, "locks");
  const auto directory = fs.open_root(path);
  if (!directory) return;
  const auto entries = fs.list(**directory);
  if (!entries) return;
  for (const DirEntry& entry : *entries) {
    const auto stat = fs.stat(**directory, entry.name);
    if (!stat || stat->type != FileType::kRegular) continue;
    const auto lock = fs.try_lock(**directory, entry.name, LockMode::kShared);
    if (lock || lock.error().code == ErrorCode::kLocked) {
      place.locks = LockSupport::kWorks;
    } else if (lock.error().code == ErrorCode::kIo) {
      place.locks = LockSupport::kFails;
      place.lock_failure = lock.error().message;
    } else {
      continue;
    }
    place.lock_file = path + "/" + entry.name.str();
    return;
  }
}

class Looker {
 public:
  Looker(FileSystem& fs, HostSystem& host) : fs_(fs), host_(host), mounts_(read_mounts(fs)) {}

  void add(std::string role, std::string path, std::string why, bool holds_code) {
    Place place{std::move(role), std::move(path), std::move(why), holds_code, {}, {}, {}, {}, {}, {}, {}};
    place.walk = walk_path(fs_, place.path);
    if (!place.walk.existing.empty()) {
      if (auto volume = read_volume(fs_, mounts_, place.walk.existing)) place.volume = std::move(*volume);
      if (const auto allowed = host_.may_create(place.walk.existing)) place.may_create = *allowed;
    }
    if (place.walk.exists) try_locks(fs_, place);
    places.push_back(std::move(place));
  }

  /// Whether a path lies in one of the places that were added.
  bool covers(const std::string& path) const {
    const std::string real = walk_path(fs_, path).real;
    return std::any_of(places.begin(), places.end(),
                       [&](const Place& place) { return store::is_within(place.walk.real, real); });
  }

  std::vector<Place> places;

 private:
  FileSystem& fs_;
  HostSystem& host_;
  std::vector<Mount> mounts_;
};

}  // namespace

std::vector<Place> look_at_places(FileSystem& fs, HostSystem& host, const store::Environment& environment,
                                  const CacheChoice& choice) {
  Looker looker(fs, host);
  looker.add("cache", choice.path, choice.why, true);
  if (!looker.covers(choice.default_root)) {
    looker.add("headers", choice.default_root,
               "precompiled headers (since 2.8) and cache/ (since 2.10) are kept there whatever is set",
               false);
  }
  for (const auto& [variable, role] :
       {std::pair<std::string_view, std::string_view>{"TRITON_CACHE_DIR", "triton"},
        {"VLLM_CACHE_ROOT", "vllm"}}) {
    const std::string_view value = environment.get(variable).value_or("");
    if (value.empty()) continue;
    const std::string path = store::absolute_path(environment, value);
    if (!looker.covers(path)) looker.add(std::string(role), path, std::string(variable) + " is set", true);
  }
  return std::move(looker.places);
}

}  // namespace cachetool::verify
