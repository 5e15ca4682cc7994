#include "verify/libraries.h"

#include <doctest/doctest.h>

#include "base/memory_file_system.h"
#include "container/loader_cache.h"
#include "unit/container/elf_maker.h"

using namespace cachetool;
using namespace cachetool::verify;
using namespace elf_tests;

namespace {

using Answer = Libraries::Answer;

const std::string kSystem = "/usr/lib/x86_64-linux-gnu/";
const std::string kTorch = "/opt/env/lib/python3.11/site-packages/torch";

std::string library(const std::string& soname, std::vector<Export> exports,
                    std::vector<std::string> versions = {}, std::vector<std::string> needed = {},
                    const std::string& run_path = {}) {
  SharedObject object;
  object.soname = soname;
  object.exports = std::move(exports);
  object.versions = std::move(versions);
  object.needed = std::move(needed);
  object.run_path = run_path;
  return make_shared_object(object);
}

/// A loader's cache that names these libraries.
std::string loader_cache(const std::vector<std::pair<std::string, std::string>>& entries,
                         std::uint32_t flags = 0x303) {
  std::string head = "glibc-ld.so.cache1.1";
  append(head, entries.size(), 4);
  head.resize(48, '\0');
  const std::size_t strings_at = head.size() + entries.size() * 24;
  std::string rows;
  std::string strings;
  for (const auto& [soname, path] : entries) {
    append(rows, flags, 4);
    append(rows, strings_at + strings.size(), 4);
    strings += soname + '\0';
    append(rows, strings_at + strings.size(), 4);
    strings += path + '\0';
    append(rows, 0, 12);
  }
  return head + rows + strings;
}

MemoryFileSystem& machine() {
  static MemoryFileSystem fs;
  static bool filled = false;
  if (filled) return fs;
  filled = true;
  fs.add_file(kSystem + "libc.so.6.real",
              library("libc.so.6", {{"printf", "GLIBC_2.2.5"}, {"dlopen", "GLIBC_2.34"}},
                      {"GLIBC_2.2.5", "GLIBC_2.4", "GLIBC_2.34", "GLIBC_PRIVATE"}));
  fs.add_symlink(kSystem + "libc.so.6", "libc.so.6.real");
  fs.add_symlink("/lib64/libabs.so", kSystem + "libc.so.6");
  fs.add_file("/opt/cached/libcached.so.1", library("libcached.so.1", {{"cached"}}));
  fs.add_file("/etc/ld.so.cache", loader_cache({{"libcached.so.1", "/opt/cached/libcached.so.1"}}));
  fs.add_file(kTorch + "/lib/libtorch_cpu.so",
              library("libtorch_cpu.so", {{"aoti_torch_check"}}, {}, {"libc10.so", "libcudart.so.12"},
                      "$ORIGIN/../../nvidia/lib:${ORIGIN}"));
  fs.add_file(kTorch + "/lib/libc10.so", library("libc10.so", {{"c10_throw"}}));
  fs.add_file("/opt/env/lib/python3.11/site-packages/nvidia/lib/libcudart.so.12",
              library("libcudart.so.12", {{"cudaMalloc"}}));
  fs.add_file("/opt/python/bin/python3.11", library("", {}, {}, {"libpython3.11.so.1.0"}, "$ORIGIN/../lib"));
  fs.add_file("/opt/python/lib/libpython3.11.so.1.0", library("libpython3.11.so.1.0", {{"PyTuple_New"}}));
  fs.add_symlink("/opt/env/bin/python3.11", "/opt/python/bin/python3.11");
  return fs;
}

LibraryPlaces places() {
  LibraryPlaces result;
  result.torch = kTorch;
  result.program = "/opt/env/bin/python3.11";
  return result;
}

}  // namespace

TEST_SUITE_BEGIN("verify/libraries");

TEST_CASE("numbers in versions compare as numbers") {
  CHECK(version_before("GLIBC_2.4", "GLIBC_2.34"));
  CHECK_FALSE(version_before("GLIBC_2.34", "GLIBC_2.4"));
  CHECK_FALSE(version_before("GLIBC_2.34", "GLIBC_2.34"));
  CHECK(version_before("GLIBCXX_3.4", "GLIBCXX_3.4.30"));
  CHECK(version_before("CXXABI_1.3.9", "CXXABI_1.3.13"));
  CHECK_FALSE(version_before("V_010", "V_9"));
}

TEST_CASE("a library says what it defines") {
  Libraries libraries(machine(), {});
  const Library* libc = libraries.find("libc.so.6");
  REQUIRE(libc != nullptr);
  CHECK(libc->path() == kSystem + "libc.so.6.real");
  CHECK(libc->defines_version("GLIBC_2.34"));
  CHECK_FALSE(libc->defines_version("GLIBC_2.38"));
  CHECK(libc->newest_version("GLIBC_") == "GLIBC_2.34");
  CHECK(libc->newest_version("GCC_").empty());
  CHECK(libc->defines("dlopen", "GLIBC_2.34"));
  CHECK(libc->defines("dlopen", ""));
  CHECK_FALSE(libc->defines("dlopen", "GLIBC_2.2.5"));
  CHECK_FALSE(libc->defines("dlclose", ""));
}

TEST_CASE("libraries are found in torch's run path, the loader's cache and the system's directories") {
  Libraries libraries(machine(), places());
  CHECK(libraries.find("libtorch_cpu.so") != nullptr);
  CHECK(libraries.find("libcudart.so.12") != nullptr);
  CHECK(libraries.find("libcached.so.1") != nullptr);
  CHECK(libraries.find("libabs.so") == libraries.find("libc.so.6"));
  CHECK(libraries.find("libnone.so") == nullptr);
  CHECK(libraries.find("../libc.so.6") == nullptr);
  CHECK(libraries.find("") == nullptr);
  Libraries without(machine(), {});
  CHECK(without.find("libtorch_cpu.so") == nullptr);
  CHECK(without.find("libcudart.so.12") == nullptr);
}

TEST_CASE(
    "directories given come before the system's; files that are no library of this machine are passed over") {
  MemoryFileSystem fs;
  fs.add_file(kSystem + "libz.so.1", library("libz.so.1", {{"good"}}));
  SharedObject foreign;
  foreign.machine = container::kMachineAArch64;
  fs.add_file("/first/libz.so.1", make_shared_object(foreign));
  fs.add_file("/second/libz.so.1", "not ELF");
  LibraryPlaces all;
  all.directories = {"/first", "/second"};
  Libraries libraries(fs, all);
  REQUIRE(libraries.find("libz.so.1") != nullptr);
  CHECK(libraries.find("libz.so.1")->path() == kSystem + "libz.so.1");
  fs.add_file("/third/libz.so.1", library("libz.so.1", {}));
  all.directories.push_back("/third");
  CHECK(Libraries(fs, all).find("libz.so.1")->path() == "/third/libz.so.1");
}

TEST_CASE("symbols come from the interpreter, from what is needed, and from what that needs") {
  Libraries libraries(machine(), places());
  CHECK(libraries.resolve({}, "PyTuple_New", "").answer == Answer::kDefined);
  CHECK(libraries.resolve({"libtorch_cpu.so"}, "aoti_torch_check", "").answer == Answer::kDefined);
  CHECK(libraries.resolve({"libtorch_cpu.so"}, "cudaMalloc", "").answer == Answer::kDefined);
  CHECK(libraries.resolve({"libc.so.6"}, "cudaMalloc", "").answer == Answer::kNobody);
  CHECK(libraries.resolve({"libc.so.6"}, "PyNone_Such", "").answer == Answer::kNobody);
  CHECK(libraries.resolve({"libc.so.6"}, "dlopen", "GLIBC_2.34").answer == Answer::kDefined);
  CHECK(libraries.resolve({"libc.so.6"}, "dlopen", "GLIBC_9").answer == Answer::kNobody);
}

TEST_CASE("what may be in a library that isn't there stays open") {
  Libraries libraries(machine(), {});
  const auto resolution = libraries.resolve({"libc.so.6", "libtorch_cpu.so"}, "aoti_torch_check", "");
  CHECK(resolution.answer == Answer::kUnknown);
  CHECK(resolution.missing == "libtorch_cpu.so");
  // Without a known interpreter its symbols are taken as given.
  CHECK(libraries.resolve({"libc.so.6"}, "PyNone_Such", "").answer == Answer::kDefined);
}

TEST_CASE("a damaged library is as good as none") {
  MemoryFileSystem fs;
  const std::string whole = library("libz.so.1", {{"good"}}, {"Z_1"});
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    fs.add_file(kSystem + "libz.so.1", whole.substr(0, size));
    CHECK(Libraries(fs, {}).find("libz.so.1") == nullptr);
  }
}

TEST_CASE("the loader's cache, whole and damaged") {
  const std::string bytes = loader_cache({{"liba.so", "/a/liba.so"}, {"libb.so", "/b/libb.so"}});
  const auto entries = container::read_loader_cache(bytes);
  REQUIRE(entries);
  REQUIRE(entries->size() == 2);
  CHECK(entries->at(1).soname == "libb.so");
  CHECK(entries->at(1).path == "/b/libb.so");
  CHECK(container::read_loader_cache(loader_cache({{"liba.so", "/a"}}, 0x3))->empty());
  CHECK_FALSE(container::read_loader_cache("ld.so-1.7.0"));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(container::read_loader_cache(std::string_view(bytes).substr(0, size)));
}

TEST_SUITE_END();
