#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cachetool {

/// One mounted file system.
struct Mount {
  std::uint64_t device = 0;                ///< as FileStat::device; file systems such as btrfs report others
  std::string point;                       ///< absolute path where it is mounted
  std::string type;                        ///< "ext4", "nfs4", "fuse.sshfs"
  std::string source;                      ///< "/dev/vda", "server:/export"
  std::vector<std::string> options;        ///< of this mount: "ro", "noexec", "relatime"
  std::vector<std::string> super_options;  ///< of the file system: "rw", "vers=4.2"

  /// Whether one of the options is `name`, or starts with `name=`.
  bool has_option(std::string_view name) const;
};

/// Reads the text of /proc/self/mountinfo (proc_pid_mountinfo(5)), in its order. Lines that don't have its
/// form are left out.
std::vector<Mount> parse_mount_table(std::string_view text);

/// The mount that `path` (absolute, links resolved) lies on: the longest mount point above it, among those
/// that have `device` where there is one; of several at one point the last, which hides the others. Null in
/// an empty table.
const Mount* mount_of(const std::vector<Mount>& mounts, std::string_view path, std::uint64_t device);

}  // namespace cachetool
