#pragma once

#include <set>
#include <string>

#include "base/host_system.h"
#include "base/memory_file_system.h"
#include "verify/doctor/doctor.h"

namespace doctor_tests {

using namespace cachetool;

/// A machine that the test says everything about: files, mounts, users, processor. As made it is a healthy
/// one: a user "ada" (1000), /tmp on a local disk with room, a home, a compiler, torch 2.9.1, and no cache
/// yet.
class FakeMachine final : public HostSystem {
 public:
  MemoryFileSystem fs;
  store::Environment environment;
  CpuFacts processor;
  std::set<std::string> refused;  ///< directories in which nothing may be created

  FakeMachine() {
    environment.working_directory = "/data";
    environment.uid = 1000;
    environment.groups = {1000};
    environment.passwd_name = "ada";
    environment.passwd_home = "/home/ada";
    environment.variables = {{"HOME", "/home/ada"}, {"PATH", "/usr/bin:/bin"}};
    processor.architecture = "x86_64";
    processor.model = "Test Processor";
    processor.usable = {CpuFeature::kAvx2, CpuFeature::kFma};
    add_directory("/tmp", 0, 01777);
    add_directory("/home", 0, 0755);
    add_directory("/home/ada", 1000, 0700);
    add_directory("/data", 1000, 0755);
    fs.add_file("/usr/bin/g++", "ELF");
    fs.add_file("/usr/bin/gcc", "ELF");
    fs.add_file("/usr/bin/python3", "ELF");
    set_torch("2.9.1+cu128");
    mount("/", "ext4", "rw,relatime");
    set_umask("0022");
    fs.add_file("/proc/sys/kernel/osrelease", "6.1.0\n");
  }

  void add_directory(const std::string& path, std::uint32_t uid, std::uint32_t mode) {
    fs.add_dir(path);
    fs.change_stat(path, [&](FileStat& stat) { stat.uid = stat.gid = uid, stat.mode = mode; });
  }

  void add_link(const std::string& path, const std::string& target, std::uint32_t uid) {
    fs.add_symlink(path, target);
    fs.change_stat(path, [&](FileStat& stat) { stat.uid = stat.gid = uid; });
  }

  /// The version of torch in the system's Python; an empty one removes it.
  void set_torch(const std::string& version) {
    const std::string packages = "/usr/lib/python3/dist-packages";
    if (fs.exists(packages)) fs.remove(packages);
    if (version.empty()) return;
    fs.add_dir(packages + "/torch-" + version.substr(0, version.find('+')) + ".dist-info");
    fs.add_file(packages + "/torch/version.py", "from typing import Optional\n__version__ = '" + version +
                                                    "'\ncuda: Optional[str] = '12.8'\n");
  }

  void set_umask(const std::string& octal) {
    fs.add_file("/proc/self/status", "Name:\ttest\nUmask:\t" + octal + "\nUid:\t1000\n");
  }

  /// Puts `path` on a file system of its own (the root's is device 1).
  void mount(const std::string& path, const std::string& type, const std::string& options,
             SpaceInfo space = roomy()) {
    if (path != "/") {
      fs.set_device(path, ++last_device_);
      fs.set_free_space(last_device_, space);
    }
    table_ += "1 1 0:" + std::to_string(path == "/" ? 1 : last_device_) + " / " + path + " " + options +
              " - " + type + " /dev/test rw\n";
    fs.add_file("/proc/self/mountinfo", table_);
  }

  static SpaceInfo roomy() {
    SpaceInfo space;
    space.free_bytes = std::uint64_t{100} << 30;
    space.total_bytes = std::uint64_t{200} << 30;
    space.free_inodes = 1'000'000;
    space.total_inodes = 2'000'000;
    return space;
  }

  CpuFacts cpu() override { return processor; }
  Expected<bool> may_create(const std::string& directory) override { return !refused.contains(directory); }

  verify::DoctorReport examine(const std::string& directory = {}) {
    verify::DoctorOptions options;
    options.directory = directory;
    return verify::examine(fs, *this, environment, options);
  }

  /// "severity check path" of every finding, with commas between them.
  std::string findings(const std::string& directory = {}) {
    std::string result;
    for (const verify::Finding& finding : examine(directory).findings) {
      result += (result.empty() ? "" : ", ") +
                (std::string(verify::severity_name(finding.severity)) + " " + std::string(finding.check->id) +
                 (finding.path.empty() ? "" : " ") + finding.path);
    }
    return result;
  }

 private:
  std::uint64_t last_device_ = 1;
  std::string table_;
};

}  // namespace doctor_tests
