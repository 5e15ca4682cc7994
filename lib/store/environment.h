#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"

namespace cachetool::store {

/// What torch would ask the operating system about when it looks for its cache. Passed in, so that nothing
/// below reads the process's environment, and tests can say who and where they are.
struct Environment {
  std::map<std::string, std::string, std::less<>> variables;
  std::string working_directory;  ///< absolute; where relative paths start
  std::uint32_t uid = 0;
  std::vector<std::uint32_t> groups;       ///< effective and supplementary group ids
  std::optional<std::string> passwd_name;  ///< login name of `uid`; empty where there is no passwd entry
  std::optional<std::string> passwd_home;  ///< home directory of `uid`, likewise

  /// The value of a variable; empty optional when it is not set (an empty value is set).
  std::optional<std::string_view> get(std::string_view name) const;
  /// HOME, else the home in passwd.
  std::optional<std::string> home() const;

  /// As this process sees it (environ, getcwd, geteuid, getgroups, getpwuid).
  static Environment of_process();
};

/// The directory that Python's tempfile.gettempdir() would choose: the first of TMPDIR, TEMP, TMP, /tmp,
/// /var/tmp, /usr/tmp and the working directory that is a directory in which this user may create files.
/// Judged by owner, mode bits and mount: nothing is written. CPython Lib/tempfile.py:
/// _candidate_tempdir_list.
std::string temporary_directory(FileSystem& fs, const Environment& environment);

/// The user's name as torch puts it into the default root: LOGNAME, USER, LNAME, USERNAME (first not empty),
/// else passwd, else `uid_<uid>`; characters `\ / : * ? " < > |` become `_`.
/// torch/_inductor/runtime/cache_dir_utils.py: default_cache_dir.
std::string cache_user_name(const Environment& environment);

/// `<tmp>/torchinductor_<user>`.
std::string default_inductor_root(FileSystem& fs, const Environment& environment);

/// Absolute form of a path as a user gave it: joined to the working directory, "." and ".." and repeated
/// slashes resolved in the text (links are not looked at).
std::string absolute_path(const Environment& environment, std::string_view path);

}  // namespace cachetool::store
