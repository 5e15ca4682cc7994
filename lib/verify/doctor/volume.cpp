#include "verify/doctor/volume.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "store/paths.h"
#include "verify/doctor/text_file.h"

namespace cachetool::verify {
namespace {

constexpr std::string_view kNetworkTypes[] = {
    "nfs",   "nfs4",   "cifs",         "smb3",    "smbfs",     "lustre", "gpfs",
    "ceph",  "beegfs", "beegfs_nodev", "afs",     "ocfs2",     "gfs2",   "panfs",
    "pvfs2", "wekafs", "vastfs",       "quobyte", "glusterfs", "ncpfs",  "coda"};
constexpr std::string_view kMemoryTypes[] = {"tmpfs", "ramfs"};
constexpr std::string_view kKernelTypes[] = {
    "proc",     "sysfs",  "cgroup",      "cgroup2",    "debugfs", "tracefs",  "securityfs", "configfs",
    "devtmpfs", "devpts", "mqueue",      "bpf",        "pstore",  "efivarfs", "selinuxfs",  "fusectl",
    "nsfs",     "autofs", "binfmt_misc", "rpc_pipefs", "resctrl", "hugetlbfs"};
constexpr std::string_view kLayerTypes[] = {"overlay", "aufs", "unionfs"};
constexpr std::string_view kUserSpaceTypes[] = {"fuse",   "fuseblk", "9p",   "virtiofs",
                                                "vboxsf", "vmhgfs",  "drvfs"};
constexpr std::string_view kNetworkFuse[] = {
    "fuse.sshfs",     "fuse.glusterfs", "fuse.s3fs",    "fuse.gcsfuse", "fuse.goofys",
    "fuse.rclone",    "fuse.ceph",      "fuse.juicefs", "fuse.JuiceFS", "fuse.blobfuse",
    "fuse.blobfuse2", "fuse.mount-s3",  "fuse.moosefs", "fuse.cvmfs2"};

/// linux/magic.h and statfs(2).
constexpr std::pair<std::uint64_t, std::string_view> kMagics[] = {
    {0xef53, "ext4"},         {0x58465342, "xfs"},       {0x9123683e, "btrfs"},      {0x2fc12fc1, "zfs"},
    {0xf2f52010, "f2fs"},     {0x01021994, "tmpfs"},     {0x858458f6, "ramfs"},      {0x794c7630, "overlay"},
    {0x61756673, "aufs"},     {0x6969, "nfs"},           {0x0bd00bd0, "lustre"},     {0x47504653, "gpfs"},
    {0x00c36400, "ceph"},     {0x19830326, "beegfs"},    {0xff534d42, "cifs"},       {0xfe534d42, "smb3"},
    {0x517b, "smbfs"},        {0x5346414f, "afs"},       {0x65735546, "fuse"},       {0x01021997, "9p"},
    {0x6a656a63, "virtiofs"}, {0x786f4256, "vboxsf"},    {0x4d44, "vfat"},           {0x2011bab0, "exfat"},
    {0x5346544e, "ntfs"},     {0x7366746e, "ntfs3"},     {0x73717368, "squashfs"},   {0xe0f5e1e2, "erofs"},
    {0x9660, "iso9660"},      {0x7461636f, "ocfs2"},     {0x01161970, "gfs2"},       {0xca451a4e, "bcachefs"},
    {0x9fa0, "proc"},         {0x62656572, "sysfs"},     {0x27e0eb, "cgroup"},       {0x63677270, "cgroup2"},
    {0x64626720, "debugfs"},  {0x74726163, "tracefs"},   {0x73636673, "securityfs"}, {0x1cd1, "devpts"},
    {0xcafe4a11, "bpf"},      {0x958458f6, "hugetlbfs"},
};

template <std::size_t N>
bool contains(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// The text with every letter in the other case; the same text where it has none.
std::string other_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') {
      c = static_cast<char>(c - 'a' + 'A');
    } else if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return result;
}

/// Asks for a name that exists, written in the other case.
std::optional<bool> try_case(FileSystem& fs, const Directory& directory, const Name& name) {
  const auto other = Name::parse(other_case(name.str()));
  if (!other || *other == name) return std::nullopt;
  const auto here = fs.stat(directory, name);
  if (!here) return std::nullopt;
  const auto there = fs.stat(directory, *other);
  if (!there) return there.error().code == ErrorCode::kNotFound ? std::optional(true) : std::nullopt;
  return !(here->device == there->device && here->inode == there->inode);
}

std::optional<bool> is_case_sensitive(FileSystem& fs, const Directory& directory, const std::string& path) {
  constexpr std::size_t kTries = 64;
  const auto entries = fs.list(directory);
  for (std::size_t i = 0; entries && i < std::min(entries->size(), kTries); ++i)
    if (const auto answer = try_case(fs, directory, (*entries)[i].name)) return answer;
  // An empty directory: its own name in its parent, if that is the same file system.
  const std::string_view above = store::directory_of(path);
  const auto parent = fs.open_root(above.empty() ? "/" : above);
  const auto name = Name::parse(store::name_of(path));
  if (!parent || !name) return std::nullopt;
  const auto here = fs.stat(directory);
  const auto there = fs.stat(**parent);
  if (!here || !there || here->device != there->device) return std::nullopt;
  return try_case(fs, **parent, *name);
}

}  // namespace

std::string_view volume_kind_name(VolumeKind kind) {
  constexpr std::array<std::string_view, 7> kNames = {"unknown",         "local",      "network", "memory",
                                                      "container-layer", "user-space", "kernel"};
  return kNames[static_cast<std::size_t>(kind)];
}

VolumeKind kind_of_type(std::string_view type) {
  if (type.empty()) return VolumeKind::kUnknown;
  if (contains(kNetworkTypes, type) || contains(kNetworkFuse, type)) return VolumeKind::kNetwork;
  if (contains(kKernelTypes, type)) return VolumeKind::kKernel;
  if (contains(kMemoryTypes, type)) return VolumeKind::kMemory;
  if (contains(kLayerTypes, type) || type == "fuse.fuse-overlayfs" || type == "fuse.unionfs")
    return VolumeKind::kContainerLayer;
  if (contains(kUserSpaceTypes, type) || type.starts_with("fuse.")) return VolumeKind::kUserSpace;
  return VolumeKind::kLocal;
}

std::string_view type_of_magic(std::uint64_t magic) {
  for (const auto& [number, name] : kMagics)
    if (number == magic) return name;
  return {};
}

std::vector<Mount> read_mounts(FileSystem& fs) {
  return parse_mount_table(read_text(fs, "/proc/self/mountinfo").value_or(""));
}

Expected<Volume> read_volume(FileSystem& fs, const std::vector<Mount>& mounts, const std::string& path) {
  const auto directory = fs.open_root(path);
  if (!directory) return tl::unexpected(directory.error());
  const auto stat = fs.stat(**directory);
  if (!stat) return tl::unexpected(stat.error());
  const auto space = fs.free_space(**directory);
  if (!space) return tl::unexpected(space.error());
  Volume volume;
  volume.space = *space;
  volume.type = type_of_magic(space->type);
  if (const Mount* mount = mount_of(mounts, path, stat->device)) {
    volume.type = mount->type;
    volume.mount_point = mount->point;
    volume.source = mount->source;
    volume.options = mount->options;
    volume.no_atime = mount->has_option("noatime");
    volume.space.read_only = volume.space.read_only || mount->has_option("ro");
    volume.space.no_exec = volume.space.no_exec || mount->has_option("noexec");
  }
  volume.kind = kind_of_type(volume.type);
  volume.case_sensitive = is_case_sensitive(fs, **directory, path);
  return volume;
}

}  // namespace cachetool::verify
