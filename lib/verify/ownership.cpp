#include "verify/ownership.h"

#include <algorithm>
#include <deque>
#include <iterator>

#include "store/paths.h"
#include "verify/owner_checks.h"

namespace cachetool::verify {
namespace {

constexpr std::uint32_t kWorldWrite = 0002;
constexpr std::uint32_t kGroupWrite = 0020;
constexpr std::uint32_t kSticky = 01000;
constexpr int kMaxLinks = 40;

bool is_trusted(const FileStat& stat, const Loader& loader) {
  return stat.uid == loader.uid || stat.uid == 0;
}

const Check* judge_inside(const FileStat& stat, const Loader& loader) {
  if (!is_trusted(stat, loader)) return &checks::kOwnerForeign;
  if ((stat.mode & kWorldWrite) != 0) return &checks::kOwnerWorldWritable;
  if ((stat.mode & kGroupWrite) != 0) return &checks::kOwnerGroupWritable;
  return nullptr;
}

void push_front(std::deque<std::string>& components, std::string_view path) {
  const auto parts = store::split_path(path);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) components.emplace_front(*part);
}

}  // namespace

const Check* judge_file(const FileStat& file, const Loader& loader) {
  return judge_inside(file, loader);
}

const Check* judge_directory(const FileStat& directory, DirectoryPlace place, const Loader& loader) {
  if (place == DirectoryPlace::kInside) return judge_inside(directory, loader);
  if (!is_trusted(directory, loader)) return &checks::kOwnerWay;
  // A sticky directory lets others rename only what is theirs.
  if ((directory.mode & kSticky) != 0) return nullptr;
  return (directory.mode & kWorldWrite) != 0 ? &checks::kOwnerWay : nullptr;
}

void OwnerSurvey::root(std::uint32_t index, const store::Root& root) {
  roots_[index] = root.directory;
  // For one file, the directory that it is in is the last step of the way.
  const bool to_file = root.role == store::RootRole::kSingleFile;
  walk_to(index, root.path);
  const auto stat = fs_.stat(*root.directory);
  if (!stat) return;
  const auto place = to_file ? DirectoryPlace::kAbove : DirectoryPlace::kInside;
  if (const Check* check = judge_directory(*stat, place, loader_)) {
    if (to_file) {
      way_.push_back({check, index, root.path, true, true, 0, {}, stat->uid, stat->mode});
    } else {
      add(check, index, {}, {}, *stat);
    }
  }
}

/// Every directory on the way to `path`, links resolved; without `path` itself.
void OwnerSurvey::walk_to(std::uint32_t root, std::string_view path) {
  std::deque<std::string> left;
  push_front(left, path);
  std::vector<std::string> done;
  int links = 0;
  const auto name_of = [&] {
    std::string name;
    for (const std::string& component : done) name += '/' + component;
    return name.empty() ? std::string("/") : name;
  };
  const auto judge = [&](const FileStat& stat, std::string place, bool link) {
    const Check* check =
        link && is_trusted(stat, loader_) ? nullptr : judge_directory(stat, DirectoryPlace::kAbove, loader_);
    if (check) way_.push_back({check, root, std::move(place), true, true, 0, {}, stat.uid, stat.mode});
  };
  while (!left.empty()) {
    const std::string component = std::move(left.front());
    left.pop_front();
    if (component == ".") continue;
    if (component == "..") {
      if (!done.empty()) done.pop_back();
      continue;
    }
    auto here = fs_.open_root(name_of());
    const auto name = Name::parse(component);
    if (!here || !name) return;
    if (done.empty()) {
      if (const auto top = fs_.stat(**here)) judge(*top, "/", false);
    }
    const auto stat = fs_.stat(**here, *name);
    if (!stat) return;
    if (stat->type == FileType::kSymlink) {
      judge(*stat, store::join_path(name_of() == "/" ? "" : name_of(), component), true);
      const auto target = fs_.read_link(**here, *name);
      if (!target || ++links > kMaxLinks) return;
      if (target->starts_with('/')) done.clear();
      push_front(left, *target);
      continue;
    }
    done.push_back(component);
    if (!left.empty()) judge(*stat, name_of(), false);
  }
}

void OwnerSurvey::add(const Check* check, std::uint32_t root, std::string_view directory,
                      std::string_view example, const FileStat& stat) {
  const auto [place, added] = found_[check].try_emplace(Key{root, std::string(directory)});
  OwnerFinding& finding = place->second;
  if (added) finding = {check, root, std::string(directory), false, false, 0, {}, stat.uid, stat.mode};
  if (example.empty()) {
    finding.itself = true;
    return;
  }
  if (finding.files++ == 0) finding.example = example;
}

/// Judges a directory that the walk has come to, and those above it that it hasn't named.
void OwnerSurvey::enter(std::uint32_t root, std::string_view path, const Directory& directory) {
  const std::string_view last =
      directory_ && directory_->first == root ? std::string_view(directory_->second) : std::string_view();
  for (std::string_view above = path; !above.empty() && !store::is_within(above, last);
       above = store::directory_of(above)) {
    std::optional<FileStat> stat;
    if (above.size() == path.size()) {
      if (auto found = fs_.stat(directory)) stat = *found;
    } else if (auto opened = store::open_below(fs_, roots_[root], above)) {
      if (auto found = fs_.stat(**opened)) stat = *found;
    }
    if (!stat) continue;
    if (const Check* check = judge_directory(*stat, DirectoryPlace::kInside, loader_))
      add(check, root, above, {}, *stat);
  }
  directory_ = Key{root, std::string(path)};
}

void OwnerSurvey::file(std::uint32_t root, std::string_view path, const FileStat& stat,
                       const Directory& directory) {
  const std::string_view place = store::directory_of(path);
  if (!directory_ || directory_->first != root || directory_->second != place) enter(root, place, directory);
  if (const Check* check = judge_file(stat, loader_)) add(check, root, place, store::name_of(path), stat);
  if (stat.links < 2) return;
  Names& names = several_names_[{stat.device, stat.inode}];
  if (names.seen++ == 0) {
    names.root = root;
    names.path = path;
    names.stat = stat;
  }
  names.links = stat.links;
}

void OwnerSurvey::odd(std::uint32_t root, std::string_view path, FileType type) {
  if (type == FileType::kDirectory || type == FileType::kUnknown) return;
  add(&checks::kOwnerLink, root, store::directory_of(path), store::name_of(path), {});
}

std::vector<OwnerFinding> OwnerSurvey::finish() {
  for (const auto& [file, names] : several_names_) {
    if (names.links <= names.seen) continue;
    add(&checks::kOwnerHardLink, names.root, store::directory_of(names.path), store::name_of(names.path),
        names.stat);
  }
  std::vector<OwnerFinding> all;
  for (const Check* check : owner_checks().checks) {
    std::copy_if(way_.begin(), way_.end(), std::back_inserter(all),
                 [&](const OwnerFinding& finding) { return finding.check == check; });
    const auto found = found_.find(check);
    if (found == found_.end()) continue;
    for (auto& [key, finding] : found->second) all.push_back(std::move(finding));
  }
  return all;
}

}  // namespace cachetool::verify
