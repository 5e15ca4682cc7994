#include "base/mount_table.h"

#include <doctest/doctest.h>
#include <sys/sysmacros.h>

using namespace cachetool;

namespace {

constexpr const char* kTable =
    "21 26 0:19 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw\n"
    "26 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,discard\n"
    "30 26 0:40 / /home/a\\040b rw,noatime - nfs4 server:/home rw,vers=4.2,hard\n"
    "31 26 0:41 / /tmp rw,nosuid,nodev,noexec - tmpfs tmpfs rw,size=1g\n"
    "32 31 0:42 / /tmp rw - overlay overlay rw,lowerdir=/l\n"
    "broken line\n"
    "33 26 x:42 / /bad rw - ext4 dev rw\n";

std::uint64_t device(unsigned major_number, unsigned minor_number) {
  return gnu_dev_makedev(major_number, minor_number);
}

}  // namespace

TEST_SUITE("base/mount_table") {
  TEST_CASE("a mount table is read line by line") {
    const auto mounts = parse_mount_table(kTable);
    REQUIRE(mounts.size() == 5);
    CHECK(mounts[1].point == "/");
    CHECK(mounts[1].type == "ext4");
    CHECK(mounts[1].source == "/dev/vda1");
    CHECK(mounts[1].device == device(254, 1));
    CHECK(mounts[2].point == "/home/a b");
    CHECK(mounts[2].has_option("noatime"));
    CHECK(mounts[2].has_option("vers"));
    CHECK(mounts[2].has_option("hard"));
    CHECK_FALSE(mounts[2].has_option("noat"));
    CHECK(parse_mount_table("").empty());
  }

  TEST_CASE("a path lies on the longest mount point above it, and there on the last") {
    const auto mounts = parse_mount_table(kTable);
    const auto type_at = [&](const char* path, std::uint64_t number) {
      return mount_of(mounts, path, number)->type;
    };
    CHECK(type_at("/var/cache", device(254, 1)) == "ext4");
    CHECK(type_at("/home/a b/cache", device(0, 40)) == "nfs4");
    CHECK(type_at("/tmp/torchinductor_me", device(0, 42)) == "overlay");
    CHECK(type_at("/tmp", device(0, 42)) == "overlay");
    CHECK(type_at("/tmpfoo", device(254, 1)) == "ext4");
  }

  TEST_CASE("the device decides between mounts that hide each other, where it is in the table") {
    const auto mounts = parse_mount_table(kTable);
    CHECK(mount_of(mounts, "/tmp/x", device(0, 41))->type == "tmpfs");
    CHECK(mount_of(mounts, "/tmp/x", 12345)->type == "overlay");
    CHECK(mount_of({}, "/tmp", 1) == nullptr);
  }
}
