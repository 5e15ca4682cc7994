#include "store/environment.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "store/paths.h"

extern "C" char** environ;

namespace cachetool::store {
namespace {

/// Whether this user may create files there, by owner and mode bits.
bool is_writable_directory(FileSystem& fs, const Environment& environment, const std::string& path) {
  if (path.empty()) return false;
  const auto directory = fs.open_root(absolute_path(environment, path));
  if (!directory) return false;
  const auto stat = fs.stat(**directory);
  if (!stat) return false;
  const auto space = fs.free_space(**directory);
  if (space && space->read_only) return false;
  if (environment.uid == 0) return true;
  constexpr std::uint32_t kWriteAndSearch = 3;
  std::uint32_t bits = stat->mode & 7;
  const auto& groups = environment.groups;
  if (stat->uid == environment.uid) {
    bits = (stat->mode >> 6) & 7;
  } else if (std::find(groups.begin(), groups.end(), stat->gid) != groups.end()) {
    bits = (stat->mode >> 3) & 7;
  }
  return (bits & kWriteAndSearch) == kWriteAndSearch;
}

}  // namespace

std::optional<std::string_view> Environment::get(std::string_view name) const {
  const auto found = variables.find(name);
  if (found == variables.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> Environment::home() const {
  if (const auto value = get("HOME"); value && !value->empty()) return std::string(*value);
  return passwd_home;
}

Environment Environment::of_process() {
  Environment result;
  for (char** item = environ; item != nullptr && *item != nullptr; ++item) {
    const std::string_view text(*item);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      result.variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  std::array<char, 4096> directory{};
  // A directory that is gone has no name, and one out of reach is called "(unreachable)…".
  if (::getcwd(directory.data(), directory.size()) != nullptr && directory[0] == '/')
    result.working_directory = directory.data();
  result.uid = ::geteuid();
  result.groups.push_back(::getegid());
  std::array<gid_t, 256> groups{};
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  if (count > 0) result.groups.insert(result.groups.end(), groups.begin(), groups.begin() + count);
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16384> text{};
  if (::getpwuid_r(result.uid, &entry, text.data(), text.size(), &found) == 0 && found != nullptr) {
    result.passwd_name = found->pw_name;
    result.passwd_home = found->pw_dir;
  }
  return result;
}

std::string temporary_directory(FileSystem& fs, const Environment& environment) {
  for (const std::string_view name : {"TMPDIR", "TEMP", "TMP"}) {
    const auto value = environment.get(name);
    if (value && !value->empty() && is_writable_directory(fs, environment, std::string(*value))) {
      return absolute_path(environment, *value);
    }
  }
  for (const std::string_view path : {"/tmp", "/var/tmp", "/usr/tmp"}) {
    if (is_writable_directory(fs, environment, std::string(path))) return std::string(path);
  }
  return environment.working_directory;
}

std::string cache_user_name(const Environment& environment) {
  std::string user;
  for (const std::string_view name : {"LOGNAME", "USER", "LNAME", "USERNAME"}) {
    user = environment.get(name).value_or("");
    if (!user.empty()) break;
  }
  if (user.empty()) user = environment.passwd_name.value_or("");
  if (user.empty()) user = "uid_" + std::to_string(environment.uid);
  for (char& c : user) {
    if (std::string_view("\\/:*?\"<>|").find(c) != std::string_view::npos) c = '_';
  }
  return user;
}

std::string default_inductor_root(FileSystem& fs, const Environment& environment) {
  return join_path(temporary_directory(fs, environment), "torchinductor_" + cache_user_name(environment));
}

std::string absolute_path(const Environment& environment, std::string_view path) {
  const std::string whole =
      path.starts_with('/') ? std::string(path) : join_path(environment.working_directory, path);
  const bool rooted = whole.starts_with('/');
  std::vector<std::string_view> kept;
  for (const std::string_view component : split_path(whole)) {
    if (component == ".") continue;
    if (component != "..") {
      kept.push_back(component);
    } else if (!kept.empty() && kept.back() != "..") {
      kept.pop_back();
    } else if (!rooted) {
      kept.push_back(component);
    }
  }
  std::string result;
  for (const std::string_view component : kept) {
    if (rooted || !result.empty()) result += '/';
    result += component;
  }
  if (result.empty()) return rooted ? "/" : ".";
  return result;
}

}  // namespace cachetool::store
