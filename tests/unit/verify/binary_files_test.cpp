#include "verify/binary_files.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "torch/key.h"
#include "unit/container/elf_maker.h"
#include "unit/verify/run.h"

using namespace cachetool;
using namespace verify_tests;

TEST_SUITE_BEGIN("verify/binary_files");

namespace {

const std::string kStem = store_tests::hash_name('c', 'k');
const std::string kPlace = kStem.substr(1, 2) + "/" + kStem;

/// A library that defines these names, as a linker lays it out: strings in section 1.
std::string library(const std::vector<std::string>& names) {
  std::string strings(1, '\0');
  std::string symbols(24, '\0');
  for (const std::string& name : names) {
    elf_tests::append(symbols, strings.size(), 4);
    elf_tests::append(symbols, 0x12, 1);  // global function
    elf_tests::append(symbols, 0, 1);
    elf_tests::append(symbols, 3, 2);  // defined in some section
    elf_tests::append(symbols, 0x1000, 8);
    elf_tests::append(symbols, 16, 8);
    strings += name + '\0';
  }
  elf_tests::File file;
  file.sections = {{".dynstr", 3, 0, 0, strings, 0, 0}, {".dynsym", 11, 0, 0, symbols, 1, 0}};
  return elf_tests::make_elf(file);
}

std::string with_type(std::string elf, char type) {
  elf[16] = type;
  return elf;
}

Lines verify_file(const std::string& suffix, const std::string& bytes, verify::Depth depth = {}) {
  MemoryFileSystem fs;
  fs.add_dir("/cache/fxgraph");
  fs.add_file("/cache/" + kPlace + suffix, bytes);
  verify::Options options;
  options.depth = depth;
  Lines lines = verify_lines(fs, "/cache", options);
  // The file lies there alone.
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("info cpp.source-missing "); });
  return lines;
}

constexpr auto kDefault = verify::Depth::kDefault;

}  // namespace

TEST_CASE("a library that torch can load is fine") {
  const std::string good = with_type(library({"kernel", "PyInit_kernel"}), 3);
  CHECK(verify_file(".main.so", good, kDefault).empty());
  CHECK(verify_file(".so", with_type(library({"__avx2_chk_kernel"}), 3), kDefault).empty());
  CHECK(verify_file(".main.so", with_type(library({"PyInit_inductor_entry_cpp"}), 3), kDefault).empty());
}

TEST_CASE("a library cut at any length is one finding, an error, and goes with its marker") {
  const std::string good = with_type(library({"kernel", "PyInit_kernel"}), 3);
  for (std::size_t length = 0; length < good.size(); ++length) {
    const Lines lines = verify_file(".main.so", good.substr(0, length), kDefault);
    const std::string id = length == 0 ? "file.empty" : "file.truncated";
    CAPTURE(length);
    CHECK(lines == Lines{"error " + id + " " + kPlace + ".main.so"});
  }
  MemoryFileSystem fs;
  fs.add_dir("/cache/fxgraph");
  fs.add_file("/cache/" + kPlace + ".so", good.substr(0, 100));
  fs.add_file("/cache/" + kPlace + ".so.load_ok", "");
  const auto result = verify_tree(fs, "/cache");
  REQUIRE(result.findings.size() == 2);
  CHECK(result.findings[1].check->id == "cpp.source-missing");
  CHECK(result.findings[0].repair == Lines{kPlace + ".so", kPlace + ".so.load_ok"});
  CHECK(result.findings[0].message.find("100 of") == 0);
}

TEST_CASE("quick looks at the header alone") {
  const std::string good = with_type(library({"kernel", "PyInit_kernel"}), 3);
  CHECK(verify_file(".main.so", good, verify::Depth::kQuick).empty());
  // The section table comes last, so what was cut shows.
  CHECK(verify_file(".main.so", good.substr(0, good.size() - 1), verify::Depth::kQuick) ==
        Lines{"error file.truncated " + kPlace + ".main.so"});
  CHECK(verify_file(".main.so", with_type(library({"_Zx"}), 3), verify::Depth::kQuick).empty());
}

TEST_CASE("what is no library in a library's place") {
  const std::string good = with_type(library({"kernel", "PyInit_kernel"}), 3);
  const std::string place = " " + kPlace + ".main.so";
  CHECK(verify_file(".main.so", "#!/bin/sh\n", kDefault) == Lines{"error elf.damaged" + place});
  CHECK(verify_file(".main.so", with_type(good, 1), kDefault) == Lines{"error elf.kind" + place});
  std::string cubin = good;
  cubin[18] = static_cast<char>(container::kMachineCuda);
  CHECK(verify_file(".main.so", cubin, kDefault) == Lines{"error elf.kind" + place});
  CHECK(verify_file(".main.so", with_type(library({"_ZN1a1bEv"}), 3), kDefault) ==
        Lines{"error library.exports" + place});
  CHECK(verify_file(".main.so", with_type(library({"kernel"}), 3), kDefault) ==
        Lines{"error library.exports" + place});
  CHECK(verify_file(".main.so", good + "more", kDefault) == Lines{"info file.trailing" + place});
}

TEST_CASE("an object file must be relocatable") {
  const std::string good = with_type(library({}), 1);
  CHECK(verify_file(".optimized.o", good, kDefault).empty());
  CHECK(verify_file(".optimized.o", with_type(good, 3), kDefault) ==
        Lines{"warning elf.kind " + kPlace + ".optimized.o"});
}

TEST_CASE("GPU binaries in a shard are named after Python's repr of their bytes") {
  elf_tests::File file;
  file.machine = container::kMachineCuda;
  file.sections = {{".text.k", 1, 0, 0, "code\n\n", 0, 0}};
  const std::string bytes = elf_tests::make_elf(file);
  const std::string name = torch::code_hash(python_bytes_repr(bytes)).str();
  MemoryFileSystem fs;
  fs.add_dir("/cache/fxgraph");
  const std::string good = name.substr(1, 2) + "/" + name + ".cubin";
  fs.add_file("/cache/" + good, bytes);
  CHECK(verify_lines(fs, "/cache").empty());
  std::string changed = bytes;
  changed[64] = 'C';
  fs.add_file("/cache/" + good, changed);
  const auto result = verify_tree(fs, "/cache");
  CHECK(lines_of(result) == Lines{"error gpu-binary.name " + good});
  CHECK(result.findings[0].repair.empty());
  fs.remove("/cache/" + good);
  // PTX is text, and white space at its ends doesn't count.
  const std::string ptx = "//\n.version 8.4\n\n";
  const std::string ptx_name = torch::code_hash("//\n.version 8.4").str();
  fs.add_file("/cache/" + ptx_name.substr(1, 2) + "/" + ptx_name + ".ptx", ptx);
  CHECK(verify_lines(fs, "/cache").empty());
}

TEST_CASE("precompiled headers are judged by size") {
  CHECK(verify_file(".h.gch", "gpch.whatever", kDefault).empty());
  CHECK(verify_file(".h.gch", "", kDefault) == Lines{"warning file.empty " + kPlace + ".h.gch"});
}

TEST_SUITE_END();
