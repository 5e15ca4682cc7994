#include <doctest/doctest.h>

#include "fake_host.h"
#include "verify/doctor/other_caches.h"
#include "verify/doctor/path_walk.h"
#include "verify/doctor/volume.h"

using namespace cachetool;
using namespace doctor_tests;
using verify::VolumeKind;

TEST_SUITE_BEGIN("verify/doctor/places");

namespace {

/// "path" of each step, links with an arrow.
std::string steps(const verify::PathWalk& walk) {
  std::string text;
  for (const verify::PathStep& step : walk.steps)
    text += (text.empty() ? "" : " ") + step.path + (step.is_link() ? "->" + step.target : "");
  return text;
}

/// "kind path" of the caches that are found.
std::string others(FakeMachine& machine, const std::string& cache) {
  std::string text;
  for (const verify::OtherCache& other :
       verify::find_other_caches(machine.fs, machine.environment, cache, verify::Sizes::kLeaveOut, {}))
    text += (text.empty() ? "" : ", ") + other.kind + " " + other.path;
  return text;
}

}  // namespace

TEST_CASE("a path is walked step by step, through links of either sort") {
  FakeMachine machine;
  machine.add_directory("/data/real", 1000, 0755);
  machine.add_link("/data/near", "real", 1000);
  machine.add_link("/far", "/data/near", 0);
  const verify::PathWalk walk = verify::walk_path(machine.fs, "/far/new/deep");
  CHECK(steps(walk) == "/ /far->/data/near / /data /data/near->real /data/real");
  CHECK(walk.real == "/data/real/new/deep");
  CHECK(walk.existing == "/data/real");
  CHECK_FALSE(walk.exists);
  CHECK_FALSE(walk.error);
  CHECK(walk.existing_stat()->uid == 1000);
}

TEST_CASE("dots go up from where a link led to") {
  FakeMachine machine;
  machine.add_directory("/data/real", 1000, 0755);
  machine.add_link("/link", "/data/real", 0);
  const verify::PathWalk walk = verify::walk_path(machine.fs, "/link/../real/.");
  CHECK(walk.exists);
  CHECK(walk.real == "/data/real");
  CHECK(verify::walk_path(machine.fs, "/..").real == "/");
}

TEST_CASE("what is in the way is named") {
  FakeMachine machine;
  machine.fs.add_file("/file", "");
  const verify::PathWalk inside = verify::walk_path(machine.fs, "/file/below");
  CHECK(inside.blocked_by == FileType::kRegular);
  CHECK_FALSE(inside.is_file);
  CHECK(verify::walk_path(machine.fs, "/file").is_file);
  machine.fs.add_special("/pipe", FileType::kFifo);
  CHECK_FALSE(verify::walk_path(machine.fs, "/pipe").is_file);
}

TEST_CASE("a directory that may be passed but not read stops nothing") {
  FakeMachine machine;
  machine.add_directory("/closed/mine", 1000, 0755);
  machine.fs.set_error("/closed", ErrorCode::kPermission);
  const verify::PathWalk walk = verify::walk_path(machine.fs, "/closed/mine");
  CHECK(walk.exists);
  CHECK(steps(walk) == "/ /closed /closed/mine");
  const verify::PathWalk missing = verify::walk_path(machine.fs, "/closed/other");
  CHECK_FALSE(missing.exists);
  CHECK(missing.error);
}

TEST_CASE("file systems are sorted by what they mean for a cache") {
  CHECK(verify::kind_of_type("ext4") == VolumeKind::kLocal);
  CHECK(verify::kind_of_type("zfs") == VolumeKind::kLocal);
  CHECK(verify::kind_of_type("nfs") == VolumeKind::kNetwork);
  CHECK(verify::kind_of_type("lustre") == VolumeKind::kNetwork);
  CHECK(verify::kind_of_type("fuse.gcsfuse") == VolumeKind::kNetwork);
  CHECK(verify::kind_of_type("fuse.fuse-overlayfs") == VolumeKind::kContainerLayer);
  CHECK(verify::kind_of_type("virtiofs") == VolumeKind::kUserSpace);
  CHECK(verify::kind_of_type("ramfs") == VolumeKind::kMemory);
  CHECK(verify::kind_of_type("") == VolumeKind::kUnknown);
}

TEST_CASE("without a mount table statfs tells the type") {
  FakeMachine machine;
  machine.fs.remove("/proc");
  SpaceInfo space = FakeMachine::roomy();
  space.type = 0x6969;
  machine.fs.set_free_space(1, space);
  const auto volume = verify::read_volume(machine.fs, verify::read_mounts(machine.fs), "/tmp");
  REQUIRE(volume);
  CHECK(volume->type == "nfs");
  CHECK(volume->kind == VolumeKind::kNetwork);
  CHECK(volume->mount_point.empty());
}

TEST_CASE("whether case counts is tried on names that are there") {
  FakeMachine machine;
  const auto sensitive = [&](const std::string& path) {
    return verify::read_volume(machine.fs, {}, path)->case_sensitive;
  };
  CHECK(sensitive("/home") == true);
  machine.fs.add_dir("/1234");
  CHECK_FALSE(sensitive("/1234"));
  machine.fs.add_dir("/empty");
  CHECK(sensitive("/empty") == true);
  machine.fs.add_file("/both/aB", "");
  machine.fs.add_hard_link("/both/Ab", "/both/aB");
  CHECK(sensitive("/both") == false);
}

TEST_CASE("trees are measured without links, other mounts and second names") {
  FakeMachine machine;
  machine.fs.add_file("/tree/a", "12345");
  machine.fs.add_hard_link("/tree/b", "/tree/a");
  machine.fs.add_file("/tree/deep/er/c", "123");
  machine.fs.add_symlink("/tree/link", "/tmp");
  machine.fs.add_file("/tree/mounted/d", "1234567890");
  machine.fs.set_device("/tree/mounted", 7);
  std::uint64_t last = 0;
  const verify::TreeSize size =
      verify::measure_tree(machine.fs, "/tree", [&](std::uint64_t files) { last = files; });
  CHECK(size.files == 2);
  CHECK(size.bytes == 8);
  CHECK(last == 2);
  CHECK_FALSE(size.complete);
  CHECK_FALSE(verify::measure_tree(machine.fs, "/nothing", {}).complete);
}

TEST_CASE("other caches of the user are found, the one that is looked at isn't one of them") {
  FakeMachine machine;
  machine.add_directory("/tmp/torchinductor_ada", 1000, 0755);
  machine.add_directory("/tmp/torchinductor_old", 1000, 0755);
  machine.add_directory("/tmp/torchinductor_eve", 1234, 0755);
  machine.fs.add_dir("/home/ada/.triton/cache");
  machine.fs.add_dir("/home/ada/.cache/torch_extensions");
  machine.fs.add_dir("/big/vllm");
  machine.environment.variables["VLLM_CACHE_ROOT"] = "/big/vllm";
  CHECK(others(machine, "/tmp/torchinductor_ada") ==
        "inductor /tmp/torchinductor_old, triton /home/ada/.triton/cache, vllm /big/vllm, "
        "extensions /home/ada/.cache/torch_extensions");
  CHECK(others(machine, "/data/cache").starts_with("inductor /tmp/torchinductor_ada, "));
  machine.environment.variables["XDG_CACHE_HOME"] = "/elsewhere";
  CHECK(others(machine, "/data/cache").find("extensions") == std::string::npos);
}

TEST_SUITE_END();
