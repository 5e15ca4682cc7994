#include "verify/doctor/doctor.h"

#include <doctest/doctest.h>

#include <functional>
#include <map>

#include "fake_host.h"
#include "verify/place_checks.h"

using namespace cachetool;
using namespace doctor_tests;

TEST_SUITE_BEGIN("verify/doctor");

namespace {

struct Case {
  const char* what;
  std::function<void(FakeMachine&)> spoil;
  std::string expected;
  const char* directory = "";
};

void make_cache(FakeMachine& machine, std::uint32_t uid = 1000, std::uint32_t mode = 0755) {
  machine.add_directory("/tmp/torchinductor_ada", uid, mode);
}

SpaceInfo space_with(std::uint64_t free_bytes, std::uint64_t free_inodes) {
  SpaceInfo space = FakeMachine::roomy();
  space.free_bytes = free_bytes;
  space.free_inodes = free_inodes;
  return space;
}

const Case kCases[] = {
    {"an empty variable", [](FakeMachine& m) { m.environment.variables["TORCHINDUCTOR_CACHE_DIR"] = ""; },
     "error place.empty-variable"},
    {"an empty variable of Triton", [](FakeMachine& m) { m.environment.variables["TRITON_CACHE_DIR"] = ""; },
     "error place.empty-variable"},
    {"an empty variable for a torch that takes the working directory",
     [](FakeMachine& m) {
       m.set_torch("2.14.0");
       m.environment.variables["TORCHINDUCTOR_CACHE_DIR"] = "";
     },
     "info place.empty-variable"},
    {"a relative path", [](FakeMachine& m) { m.environment.variables["TORCHINDUCTOR_CACHE_DIR"] = "cache"; },
     "warning place.relative cache"},
    {"a relative path of Triton, with any torch",
     [](FakeMachine& m) {
       m.set_torch("2.14.0");
       m.environment.variables["TRITON_CACHE_DIR"] = "t";
     },
     "warning place.relative t"},
    {"nobody names the user", [](FakeMachine& m) { m.environment.passwd_name.reset(); },
     "error place.no-user-name"},
    {"nobody names the user, which later releases stand",
     [](FakeMachine& m) {
       m.environment.passwd_name.reset();
       m.set_torch("2.13.0");
     },
     "info place.no-user-name"},
    {"nobody names the user, but a cache is set",
     [](FakeMachine& m) {
       m.environment.passwd_name.reset();
       m.environment.variables["TORCHINDUCTOR_CACHE_DIR"] = "/data/cache";
     },
     "error place.no-user-name"},
    {"no home at all",
     [](FakeMachine& m) {
       m.environment.variables.erase("HOME");
       m.environment.passwd_home.reset();
     },
     "warning place.no-home"},
    {"a home that isn't there", [](FakeMachine& m) { m.environment.variables["HOME"] = "/nonexistent"; },
     "warning place.no-home /nonexistent"},
    {"a home that can't be written", [](FakeMachine& m) { m.refused.insert("/home/ada"); },
     "warning place.no-home /home/ada"},
    {"TMPDIR isn't there", [](FakeMachine& m) { m.environment.variables["TMPDIR"] = "/scratch"; },
     "warning place.temporary-ignored /scratch"},
    {"no temporary directory", [](FakeMachine& m) { m.fs.remove("/tmp"); },
     "warning place.temporary-ignored"},
    {"a file in the way", [](FakeMachine& m) { m.fs.add_file("/tmp/torchinductor_ada", ""); },
     "error place.not-a-directory /tmp/torchinductor_ada"},
    {"links in a circle",
     [](FakeMachine& m) {
       m.add_link("/tmp/torchinductor_ada", "other", 1000);
       m.add_link("/tmp/other", "torchinductor_ada", 1000);
     },
     "error place.unreachable /tmp/torchinductor_ada"},
    {"mounted read-only",
     [](FakeMachine& m) {
       m.add_directory("/cache", 1000, 0755);
       m.mount("/cache", "ext4", "ro,relatime");
     },
     "error place.read-only /cache", "/cache"},
    {"not writable",
     [](FakeMachine& m) {
       make_cache(m);
       m.refused.insert("/tmp/torchinductor_ada");
     },
     "error place.not-writable /tmp/torchinductor_ada"},
    {"can't be made", [](FakeMachine& m) { m.refused.insert("/"); }, "error place.not-writable /cache",
     "/cache"},
    {"precompiled headers can't be kept",
     [](FakeMachine& m) {
       make_cache(m);
       m.refused.insert("/tmp/torchinductor_ada");
       m.environment.variables["TORCHINDUCTOR_CACHE_DIR"] = "/data/cache";
     },
     "warning place.not-writable /tmp/torchinductor_ada"},
    {"noexec", [](FakeMachine& m) { m.mount("/tmp", "ext4", "rw,noexec,relatime"); },
     "error place.no-exec /tmp/torchinductor_ada"},
    {"noexec where only headers lie",
     [](FakeMachine& m) {
       m.mount("/tmp", "ext4", "rw,noexec,relatime");
       m.environment.variables["TORCHINDUCTOR_CACHE_DIR"] = "/data/cache";
     },
     ""},
    {"locks fail",
     [](FakeMachine& m) {
       make_cache(m);
       m.fs.add_file("/tmp/torchinductor_ada/locks/c1.lock", "");
       m.fs.set_error("/tmp/torchinductor_ada/locks/c1.lock", ErrorCode::kIo);
     },
     "error place.no-locks /tmp/torchinductor_ada/locks/c1.lock"},
    {"little space", [](FakeMachine& m) { m.mount("/tmp", "ext4", "rw", space_with(1 << 30, 1'000'000)); },
     "warning place.low-space /tmp/torchinductor_ada"},
    {"no space", [](FakeMachine& m) { m.mount("/tmp", "ext4", "rw", space_with(1 << 20, 1'000'000)); },
     "error place.low-space /tmp/torchinductor_ada"},
    {"few inodes",
     [](FakeMachine& m) { m.mount("/tmp", "ext4", "rw", space_with(std::uint64_t{1} << 40, 5'000)); },
     "warning place.low-inodes /tmp/torchinductor_ada"},
    {"no inodes",
     [](FakeMachine& m) { m.mount("/tmp", "ext4", "rw", space_with(std::uint64_t{1} << 40, 5)); },
     "error place.low-inodes /tmp/torchinductor_ada"},
    {"NFS", [](FakeMachine& m) { m.mount("/tmp", "nfs4", "rw,relatime"); },
     "warning place.network /tmp/torchinductor_ada"},
    {"sshfs", [](FakeMachine& m) { m.mount("/tmp", "fuse.sshfs", "rw,relatime"); },
     "warning place.network /tmp/torchinductor_ada"},
    {"overlay", [](FakeMachine& m) { m.mount("/tmp", "overlay", "rw,relatime"); },
     "warning place.container-layer /tmp/torchinductor_ada"},
    {"tmpfs", [](FakeMachine& m) { m.mount("/tmp", "tmpfs", "rw"); },
     "info place.memory /tmp/torchinductor_ada"},
    {"proc", [](FakeMachine& m) { m.mount("/tmp", "proc", "rw"); },
     "error place.not-writable /tmp/torchinductor_ada"},
    {"sysfs", [](FakeMachine& m) { m.mount("/tmp", "sysfs", "rw"); },
     "error place.not-writable /tmp/torchinductor_ada"},
    {"FUSE", [](FakeMachine& m) { m.mount("/tmp", "fuse.something", "rw"); },
     "info place.user-space /tmp/torchinductor_ada"},
    {"case doesn't count",
     [](FakeMachine& m) {
       make_cache(m);
       m.fs.add_file("/tmp/torchinductor_ada/note", "");
       m.fs.add_hard_link("/tmp/torchinductor_ada/NOTE", "/tmp/torchinductor_ada/note");
     },
     "info place.case-insensitive /tmp/torchinductor_ada"},
    {"noatime", [](FakeMachine& m) { m.mount("/tmp", "ext4", "rw,noatime"); },
     "info place.no-atime /tmp/torchinductor_ada"},
    {"somebody else's cache", [](FakeMachine& m) { make_cache(m, 1234); },
     "error place.foreign-owner /tmp/torchinductor_ada"},
    {"somebody else's directory above",
     [](FakeMachine& m) {
       m.add_directory("/data", 1234, 0755);
       m.add_directory("/data/cache", 1000, 0755);
     },
     "warning place.foreign-owner /data", "/data/cache"},
    {"root's directory", [](FakeMachine& m) { make_cache(m, 0); }, ""},
    {"somebody else's link",
     [](FakeMachine& m) {
       m.add_directory("/data/cache", 1000, 0755);
       m.add_link("/tmp/torchinductor_ada", "/data/cache", 1234);
     },
     "error place.foreign-link /tmp/torchinductor_ada"},
    {"one's own link",
     [](FakeMachine& m) {
       m.add_directory("/data/cache", 1000, 0755);
       m.add_link("/tmp/torchinductor_ada", "/data/cache", 1000);
     },
     ""},
    {"everybody may write", [](FakeMachine& m) { make_cache(m, 1000, 0777); },
     "error place.others-may-write /tmp/torchinductor_ada"},
    {"everybody may add to a sticky cache", [](FakeMachine& m) { make_cache(m, 1000, 01777); },
     "error place.others-may-write /tmp/torchinductor_ada"},
    {"everybody may replace it",
     [](FakeMachine& m) {
       m.add_directory("/data", 0, 0777);
       m.add_directory("/data/cache", 1000, 0755);
     },
     "error place.others-may-write /data", "/data/cache"},
    {"a group may write",
     [](FakeMachine& m) {
       make_cache(m, 1000, 0775);
       m.fs.change_stat("/tmp/torchinductor_ada", [](FileStat& stat) { stat.gid = 50; });
     },
     "warning place.others-may-write /tmp/torchinductor_ada"},
    {"the user's own group may write", [](FakeMachine& m) { make_cache(m, 1000, 0775); }, ""},
    {"no umask", [](FakeMachine& m) { m.set_umask("0000"); }, "warning place.umask"},
    {"umask without the group", [](FakeMachine& m) { m.set_umask("0002"); }, "info place.umask"},
    {"caches are off",
     [](FakeMachine& m) { m.environment.variables["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"; },
     "warning place.caches-disabled"},
    {"graphs aren't kept",
     [](FakeMachine& m) { m.environment.variables["TORCHINDUCTOR_FX_GRAPH_CACHE"] = "0"; },
     "warning place.cache-off"},
    {"a switch in its usual position",
     [](FakeMachine& m) {
       m.environment.variables["TORCHINDUCTOR_FX_GRAPH_CACHE"] = "1";
       m.environment.variables["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "0";
     },
     ""},
    {"Triton always compiles",
     [](FakeMachine& m) { m.environment.variables["TRITON_ALWAYS_COMPILE"] = "True"; },
     "warning place.cache-off"},
    {"compilation is off", [](FakeMachine& m) { m.environment.variables["TORCH_COMPILE_DISABLE"] = "1"; },
     "warning place.compile-off"},
    {"a misspelt variable",
     [](FakeMachine& m) { m.environment.variables["TORCHINDUCTOR_CACHE_DIRS"] = "/data/cache"; },
     "info place.misspelt"},
    {"no compiler", [](FakeMachine& m) { m.fs.remove("/usr/bin/g++"); }, "info place.no-compiler"},
    {"no compiler, but no torch either",
     [](FakeMachine& m) {
       m.fs.remove("/usr/bin/g++");
       m.set_torch("");
     },
     ""},
    {"no C compiler for Triton",
     [](FakeMachine& m) {
       m.fs.remove("/usr/bin/gcc");
       m.fs.add_file("/sys/bus/pci/devices/0000:17:00.0/class", "0x030200\n");
       m.fs.add_file("/sys/bus/pci/devices/0000:17:00.0/vendor", "0x10de\n");
     },
     "info place.no-compiler"},
};

}  // namespace

TEST_CASE("a healthy machine has no findings, with a cache and without") {
  FakeMachine machine;
  CHECK(machine.findings().empty());
  make_cache(machine);
  CHECK(machine.findings().empty());
  CHECK(machine.findings("/data/elsewhere").empty());
}

TEST_CASE("each thing that is wrong is found, and nothing else") {
  for (const Case& test : kCases) {
    CAPTURE(std::string(test.what));
    FakeMachine machine;
    test.spoil(machine);
    CHECK(machine.findings(test.directory) == test.expected);
  }
}

TEST_CASE("every check of the place is triggered by one of the cases") {
  std::map<std::string, int> seen;
  for (const Case& test : kCases) {
    FakeMachine machine;
    test.spoil(machine);
    for (const verify::Finding& finding : machine.examine(test.directory).findings) {
      ++seen[std::string(finding.check->id)];
      CHECK_FALSE(finding.message.empty());
      CHECK_FALSE(finding.hint.empty());
    }
  }
  for (const verify::Check* check : verify::place_checks().checks) {
    CAPTURE(check->id);
    CHECK(seen[std::string(check->id)] > 0);
  }
}

TEST_SUITE_END();
