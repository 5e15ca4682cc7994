#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/mount_table.h"

namespace cachetool::verify {

/// What kind of storage a file system is, as far as a cache is concerned.
enum class VolumeKind : std::uint8_t {
  kUnknown,
  kLocal,
  kNetwork,         ///< NFS, Lustre, SMB, …: other machines see and change the same files
  kMemory,          ///< tmpfs, ramfs: RAM, gone at reboot
  kContainerLayer,  ///< overlay: gone with the container
  kUserSpace,       ///< FUSE, 9p, virtiofs: a process or the host of a virtual machine answers
  kKernel,          ///< proc, sysfs, cgroup, …: shows what the kernel knows, holds no files of programs
};
/// "local", "network", "memory", "container-layer", "user-space", "kernel", "unknown".
std::string_view volume_kind_name(VolumeKind kind);

/// The file system under a directory.
struct Volume {
  std::string type;  ///< "ext4", "nfs4", "fuse.sshfs"; from statfs(2) where the mount table can't be read
  VolumeKind kind = VolumeKind::kUnknown;
  std::string mount_point;  ///< empty when unknown, as the next two
  std::string source;
  std::vector<std::string> options;
  SpaceInfo space;
  bool no_atime = false;  ///< times of last use are not kept
  /// Names differ in more than case; empty where nothing could be tried.
  std::optional<bool> case_sensitive;
};

/// The kind of a type as mount tables call it.
VolumeKind kind_of_type(std::string_view type);
/// The name of a file system by f_type of statfs(2); empty for those that aren't known here.
std::string_view type_of_magic(std::uint64_t magic);

/// The mounts of this process; empty where /proc isn't mounted.
std::vector<Mount> read_mounts(FileSystem& fs);

/// Looks at an existing directory, `path` without links in it. Whether case counts is tried on a name that
/// exists there already.
Expected<Volume> read_volume(FileSystem& fs, const std::vector<Mount>& mounts, const std::string& path);

}  // namespace cachetool::verify
