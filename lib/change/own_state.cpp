#include "change/own_state.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "change/parents.h"

namespace cachetool::change {
namespace {

constexpr std::uint32_t kPrivate = 0700;
constexpr std::uint32_t kOthersWrite = 0022;
constexpr std::string_view kPlace = ".cachetool";

Name name(std::string_view text) {
  return *Name::parse(text);
}

tl::unexpected<Error> failed_at(Error error, std::string_view path) {
  return tl::unexpected(at_path(std::move(error), path));
}

Status check_trusted(FileSystem& fs, const Directory& dir, std::uint32_t uid) {
  const auto stat = fs.stat(dir);
  if (!stat) return failed_at(stat.error(), kPlace);
  if (stat->uid != uid && stat->uid != 0) {
    return fail(ErrorCode::kPermission,
                fmt::format("belongs to user {}, who could have prepared what it holds", stat->uid),
                std::string(kPlace), {}, "remove it, or run as that user");
  }
  if ((stat->mode & kOthersWrite) != 0) {
    return fail(ErrorCode::kPermission, fmt::format("others may write in it (mode {:04o})", stat->mode),
                std::string(kPlace), {}, "chmod go-w it once you have looked at what it holds");
  }
  return {};
}

Expected<OwnState> lock_and_open(FileSystem& fs, DirHandle dir, std::uint32_t uid) {
  if (auto trusted = check_trusted(fs, *dir, uid); !trusted)
    return tl::unexpected(std::move(trusted.error()));
  OwnState state;
  auto lock = fs.try_lock(*dir, name("lock"), LockMode::kExclusive);
  if (lock) {
    state.lock = std::move(*lock);
  } else if (lock.error().code == ErrorCode::kLocked) {
    return fail(ErrorCode::kLocked, "another cachetool is changing this cache", ".cachetool/lock", {},
                "wait until it is done");
  } else if (lock.error().code == ErrorCode::kUnsupported) {
    state.unlocked = at_path(std::move(lock.error()), ".cachetool/lock");
  } else {
    return failed_at(std::move(lock.error()), ".cachetool/lock");
  }
  for (const auto& [folder, text] :
       {std::pair{&OwnState::journals, "journal"}, std::pair{&OwnState::trash, "trash"},
        std::pair{&OwnState::quarantine, "quarantine"}}) {
    auto opened = open_or_make(fs, *dir, name(text), kPrivate);
    if (!opened) return failed_at(std::move(opened.error()), fmt::format("{}/{}", kPlace, text));
    state.*folder = std::move(*opened);
  }
  state.dir = std::move(dir);
  return state;
}

}  // namespace

Expected<std::optional<OwnState>> open_own_state(FileSystem& fs, const Directory& root, std::uint32_t uid) {
  auto dir = fs.open_dir(root, name(kPlace));
  if (!dir && dir.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!dir) return failed_at(std::move(dir.error()), kPlace);
  return lock_and_open(fs, std::move(*dir), uid).map([](OwnState state) {
    return std::optional(std::move(state));
  });
}

Expected<OwnState> make_own_state(FileSystem& fs, const Directory& root, std::uint32_t uid) {
  auto dir = open_or_make(fs, root, name(kPlace), kPrivate);
  if (!dir) return failed_at(std::move(dir.error()), kPlace);
  return lock_and_open(fs, std::move(*dir), uid);
}

}  // namespace cachetool::change
