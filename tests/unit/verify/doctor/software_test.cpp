#include "verify/doctor/software.h"

#include <doctest/doctest.h>

#include "fake_host.h"

using namespace cachetool;
using namespace doctor_tests;
using torch::ReleaseFamily;

TEST_SUITE_BEGIN("verify/doctor/software");

namespace {

/// "name version (backend) from" of every package, with commas between them.
std::string packages(FakeMachine& machine) {
  std::string text;
  for (const verify::Package& package : verify::find_software(machine.fs, machine.environment).packages) {
    text += (text.empty() ? "" : ", ") + package.name + " " + package.version;
    if (!package.backend.empty()) text += " (" + package.backend + ")";
    text += " " + package.from;
  }
  return text;
}

/// "path" of the compilers; "-" where there is none.
std::string programs(FakeMachine& machine) {
  std::string text;
  for (const verify::Program& program : verify::find_software(machine.fs, machine.environment).programs)
    text += (text.empty() ? "" : ", ") + (program.path.empty() ? "-" : program.path);
  return text;
}

void add_torch(FakeMachine& machine, const std::string& place, const std::string& version) {
  machine.fs.add_dir(place + "/torch-" + version + ".dist-info");
  machine.fs.add_file(place + "/torch/version.py",
                      "__version__ = '" + version + "'\ncuda: Optional[str] = None\n");
}

}  // namespace

TEST_CASE("the system's Python is found on PATH") {
  FakeMachine machine;
  CHECK(packages(machine) == "torch 2.9.1+cu128 (cuda 12.8) PATH");
}

TEST_CASE("PYTHONPATH comes first, then the environment that is active, then PATH, then the user's own") {
  FakeMachine machine;
  add_torch(machine, "/opt/env/lib/python3.12/site-packages", "2.14.0");
  machine.fs.add_dir("/opt/env/lib/python3.12/site-packages/triton-3.8.0.dist-info");
  machine.fs.add_dir("/opt/env/lib/python3.12/site-packages/torchvision-0.29.0.dist-info");
  machine.fs.add_file("/src/pytorch/torch/version.py", "__version__ = '2.15.0a0+git1'\nhip = '6.4'\n");
  machine.fs.add_dir("/home/ada/.local/lib/python3.11/site-packages/vllm-0.11.2.dist-info");
  machine.environment.variables["VIRTUAL_ENV"] = "/opt/env";
  machine.environment.variables["PYTHONPATH"] = "/nowhere:/src/pytorch";
  CHECK(
      packages(machine) ==
      "torch 2.15.0a0+git1 (rocm 6.4) PYTHONPATH, torch 2.14.0 (cpu) VIRTUAL_ENV, triton 3.8.0 VIRTUAL_ENV, "
      "torch 2.9.1+cu128 (cuda 12.8) PATH, vllm 0.11.2 user directory");
}

TEST_CASE("a virtual environment on PATH hides the system's packages unless it asks for them") {
  FakeMachine machine;
  machine.add_link("/opt/env/bin/python3", "/usr/bin/python3", 0);
  machine.fs.add_file("/opt/env/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\n");
  add_torch(machine, "/opt/env/lib/python3.11/site-packages", "2.13.0");
  machine.environment.variables["PATH"] = "/opt/env/bin:/usr/bin";
  CHECK(packages(machine) == "torch 2.13.0 (cpu) PATH");
  machine.fs.add_file("/opt/env/pyvenv.cfg", "include-system-site-packages = true\n");
  CHECK(packages(machine) == "torch 2.13.0 (cpu) PATH, torch 2.9.1+cu128 (cuda 12.8) PATH");
}

TEST_CASE("what a removed installation left behind is no torch") {
  FakeMachine machine;
  machine.set_torch("");
  machine.fs.add_dir("/usr/lib/python3/dist-packages/torch-2.6.0.dist-info");
  CHECK(packages(machine).empty());
}

TEST_CASE("compilers come from CXX and CC, else from PATH") {
  FakeMachine machine;
  CHECK(programs(machine) == "/usr/bin/g++, /usr/bin/gcc");
  machine.fs.remove("/usr/bin/gcc");
  CHECK(programs(machine) == "/usr/bin/g++, -");
  machine.fs.add_file("/opt/clang", "ELF");
  machine.environment.variables["CC"] = "/opt/clang";
  machine.environment.variables["CXX"] = "ccache g++";
  CHECK(programs(machine) == "-, /opt/clang");
  machine.fs.add_file("/bin/ccache", "ELF");
  CHECK(programs(machine) == "/bin/ccache, /opt/clang");
}

TEST_CASE("a version belongs to a family only as a whole") {
  CHECK(verify::family_of_version("2.9.1+cu128") == ReleaseFamily::k2_9);
  CHECK(verify::family_of_version("2.10.0") == ReleaseFamily::k2_10);
  CHECK(verify::family_of_version("2.15") == ReleaseFamily::k2_15);
  CHECK_FALSE(verify::family_of_version("2.16.0"));
  CHECK_FALSE(verify::family_of_version("2.1.2"));
  CHECK_FALSE(verify::family_of_version(""));
}

TEST_SUITE_END();
