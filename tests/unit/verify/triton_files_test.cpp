#include "verify/triton_files.h"

#include <doctest/doctest.h>

#include <functional>

#include "unit/container/elf_maker.h"
#include "unit/verify/run.h"
#include "verify/damage.h"

using namespace cachetool;
using namespace verify_tests;
using torch::ReleaseFamily;

TEST_SUITE_BEGIN("verify/triton_files");

namespace {

const std::string kHash = "b2a60dbae89dd46240615311569f2243644a8445dfd0d3299b3b3445830b8549";
const std::string kBase64 = "sqYNuuid1GJAYVMRVp8iQ2RKhEXf0NMpmzs0RYMLhUk";
const std::string kBase32 = "WKTA3OXITXKGEQDBKMIVNHZCINSEVBCF37INGKM3HM2ELAYLQVEQ";

struct Kernel {
  std::string version = "3.9.0";
  std::string written_below = "/cache/triton/0";
  std::string hash = kHash;
  std::string name = "k";
  std::string directory = kBase32;
};

std::string metadata(const Kernel& kernel) {
  return R"({"hash": ")" + kernel.hash +
         R"(", "target": {"backend": "cuda", "arch": 90, "warp_size": 32}, )" +
         R"("num_warps": 4, "num_ctas": 1, "shared": 0, "name": ")" + kernel.name +
         R"(", "triton_version": ")" + kernel.version + R"("})";
}

std::string cubin(std::uint32_t architecture) {
  elf_tests::File file;
  file.machine = container::kMachineCuda;
  file.abi_version = 7;
  file.flags = architecture;
  file.sections = {{".text.k", 1, 0, 0, "code", 0, 0}};
  return elf_tests::make_elf(file);
}

const std::vector<std::string> kChildren = {"k.ttir", "k.cubin", "k.json"};

std::string group(const Kernel& kernel) {
  std::string text = R"({"child_paths": {)";
  for (const std::string& child : kChildren) {
    if (child != kChildren.front()) text += ", ";
    text += "\"" + child + "\": \"" + kernel.written_below + "/" + kernel.directory + "/" + child + "\"";
  }
  return text + "}}";
}

std::string place(const Kernel& kernel) {
  return "triton/0/" + kernel.directory + "/";
}

void add_kernel(MemoryFileSystem& fs, const Kernel& kernel = {}) {
  const std::string at = "/cache/" + place(kernel);
  fs.add_dir("/cache/fxgraph");
  fs.add_file(at + "k.ttir", "module {\n}\n");
  fs.add_file(at + "k.cubin", cubin(90));
  fs.add_file(at + "k.json", metadata(kernel));
  fs.add_file(at + "__grp__k.json", group(kernel));
}

/// What verify says of one kernel after `change`.
Lines after(const std::function<void(MemoryFileSystem&, const std::string&)>& change,
            const Kernel& kernel = {}) {
  MemoryFileSystem fs;
  add_kernel(fs, kernel);
  change(fs, "/cache/" + place(kernel));
  const auto result = verify_tree(fs, "/cache");
  for (const auto& finding : result.findings) {
    if (finding.severity == verify::Severity::kInfo || finding.repair.empty()) continue;
    CHECK(finding.repair == Lines{"triton/0/" + kernel.directory});
  }
  return lines_of(result);
}

Lines with_file(const std::string& name, const std::string& bytes, const Kernel& kernel = {}) {
  return after([&](MemoryFileSystem& fs, const std::string& at) { fs.add_file(at + name, bytes); }, kernel);
}

Lines without_file(const std::string& name, const Kernel& kernel = {}) {
  return after([&](MemoryFileSystem& fs, const std::string& at) { fs.remove(at + name); }, kernel);
}

std::string at(const std::string& name, const Kernel& kernel = {}) {
  return place(kernel) + name;
}

Kernel of_release(const std::string& version) {
  Kernel kernel;
  kernel.version = version;
  return kernel;
}

}  // namespace

TEST_CASE("directory names of all Tritons") {
  CHECK(verify::triton_directory_name(kHash, kBase32) == kBase32);
  CHECK(verify::triton_directory_name(kHash, kBase64) == kBase64);
  CHECK(verify::triton_directory_name(kHash, kHash) == kHash);
  CHECK(verify::triton_directory_name(kHash, "other").empty());
  CHECK(verify::triton_directory_name("12", kBase32).empty());
}

TEST_CASE("releases by Triton's version and by the directory's name") {
  CHECK(verify::releases_of_triton("3.5.1").first == ReleaseFamily::k2_9);
  CHECK(verify::releases_of_triton("3.6.0").last == ReleaseFamily::k2_11);
  CHECK(verify::releases_of_triton("3.50").first == ReleaseFamily::kUnknown);
  CHECK(verify::triton_releases(kBase64).first == ReleaseFamily::k2_6);
  CHECK(verify::triton_releases(kBase32).first == ReleaseFamily::k2_7);
  CHECK(verify::triton_releases(kHash).last == ReleaseFamily::k2_5);
  CHECK(verify::triton_releases("k").first == ReleaseFamily::kUnknown);
}

TEST_CASE("a whole kernel is fine") {
  CHECK(after([](MemoryFileSystem&, const std::string&) {}).empty());
  Kernel old = of_release("3.2.0");
  old.directory = kBase64;
  CHECK(after([](MemoryFileSystem&, const std::string&) {}, old).empty());
}

TEST_CASE("metadata: names and hash") {
  Kernel other;
  other.hash = std::string(64, '0');
  CHECK(with_file("k.json", metadata(other)) == Lines{"error triton.hash " + at("k.json")});
  other = {};
  other.name = "another";
  CHECK(with_file("k.json", metadata(other)) == Lines{"error triton.name " + at("k.json")});
}

TEST_CASE("metadata cut at any length is one finding") {
  const std::string good = metadata({});
  for (std::size_t length = 0; length < good.size(); ++length) {
    CAPTURE(length);
    const std::string id = length == 0 ? "file.empty " : "file.truncated ";
    CHECK(with_file("k.json", good.substr(0, length)) == Lines{"error " + id + at("k.json")});
  }
}

TEST_CASE("metadata of other forms") {
  CHECK(with_file("k.json", "{}") == Lines{"error file.shape " + at("k.json")});
  CHECK(with_file("k.json", "[1]") == Lines{"error file.shape " + at("k.json")});
  CHECK(with_file("k.json", "not json") == Lines{"error file.json " + at("k.json")});
  CHECK(with_file("k.json", metadata({}) + "{}") == Lines{"error file.trailing " + at("k.json")});
  CHECK(with_file("k.json", metadata({}) + "\n\n").empty());
  CHECK(with_file("k.json", metadata({}) + std::string(8, '\0')) ==
        Lines{"error file.trailing " + at("k.json")});
  std::string raw = metadata({});
  raw[3] = '\xff';
  CHECK(with_file("k.json", raw) == Lines{"error file.encoding " + at("k.json")});
}

TEST_CASE("a damaged group raises up to Triton 3.6 and is a miss since") {
  // The group alone doesn't say which Triton: the worst counts.
  CHECK(with_file("__grp__k.json", "{") == Lines{"error file.truncated " + at("__grp__k.json")});
  CHECK(with_file("__grp__k.json", R"({"child_paths": null})") ==
        Lines{"error file.shape " + at("__grp__k.json")});
  CHECK(with_file("__grp__k.json", R"({"child_paths": ["k.ttir", "k.cubin", "k.json"]})").empty());
}

TEST_CASE("a child that is gone, by release and kind of file") {
  const auto expected = [&](const std::string& severity, const std::string& version,
                            const std::string& child) {
    CHECK(without_file(child, of_release(version)) ==
          Lines{severity + " triton.child-missing " + at("__grp__k.json")});
  };
  expected("error", "3.5.1", "k.cubin");
  expected("warning", "3.7.0", "k.cubin");
  expected("info", "3.5.1", "k.ttir");
  expected("warning", "3.9.0", "k.ttir");
  expected("warning", "3.9.0", "k.json");
  CHECK(without_file("__grp__k.json") == Lines{"info triton.unfinished triton/0/" + kBase32});
}

TEST_CASE("renamed files are one finding") {
  const auto renamed = [](const std::string& from, const std::string& to) {
    return after([&](MemoryFileSystem& fs, const std::string& directory) {
      fs.add_file(directory + to, *fs.contents(directory + from));
      fs.remove(directory + from);
    });
  };
  CHECK(renamed("k.json", "q.json") == Lines{"warning triton.child-missing " + at("__grp__k.json")});
  CHECK(renamed("k.cubin", "q.cubin") == Lines{"warning triton.child-missing " + at("__grp__k.json")});
  CHECK(renamed("__grp__k.json", "__grp__q.json") == Lines{"info triton.unfinished triton/0/" + kBase32});
}

TEST_CASE("a moved cache is one finding for all kernels of one old place") {
  MemoryFileSystem fs;
  Kernel kernel;
  kernel.written_below = "/elsewhere/triton/0";
  add_kernel(fs, kernel);
  kernel.hash = std::string(64, '0');
  kernel.directory = verify::triton_directory_name(kernel.hash, kBase32);
  add_kernel(fs, kernel);
  const auto result = verify_tree(fs, "/cache");
  CHECK(lines_of(result) == Lines{"info triton.moved triton/0"});
  CHECK(result.findings[0].message.find("2 kernels were written below /elsewhere/triton/0") == 0);

  Kernel old = of_release("3.3.1");
  old.written_below = "/elsewhere";
  CHECK(after([](MemoryFileSystem&, const std::string&) {}, old) == Lines{"warning triton.moved triton/0"});
  // There a missing binary is no error: Triton misses as it is.
  CHECK(without_file("k.cubin", old) ==
        Lines{"warning triton.child-missing " + at("__grp__k.json"), "warning triton.moved triton/0"});
}

TEST_CASE("a child's path that is another's") {
  std::string text = group({});
  text.replace(text.find("k.ttir\"", 20), 6, "k.llir");
  CHECK(with_file("__grp__k.json", text) == Lines{"error triton.group-path " + at("__grp__k.json")});
}

TEST_CASE("binaries: cut, of another kind, for another GPU") {
  const std::string good = cubin(90);
  CHECK(with_file("k.cubin", good.substr(0, good.size() - 1)) ==
        Lines{"error file.truncated " + at("k.cubin")});
  CHECK(with_file("k.cubin", "") == Lines{"error file.empty " + at("k.cubin")});
  CHECK(with_file("k.cubin", cubin(80)) == Lines{"error triton.architecture " + at("k.cubin")});
  std::string host = good;
  host[18] = 62;
  CHECK(with_file("k.cubin", host) == Lines{"error elf.kind " + at("k.cubin")});
}

TEST_CASE("texts: read along, so only their encoding breaks anything") {
  CHECK(with_file("k.ttir", "module {\n}") == Lines{"info file.truncated " + at("k.ttir")});
  CHECK(with_file("k.ttir", "") == Lines{"info file.empty " + at("k.ttir")});
  CHECK(with_file("k.ttir", "\xff\n") == Lines{"error file.encoding " + at("k.ttir")});
}

TEST_CASE("autotune results may hold Infinity") {
  const std::string directory =
      "/cache/triton/0/" + verify::triton_directory_name(std::string(64, '1'), kBase32);
  const auto judge = [&](const std::string& text) {
    MemoryFileSystem fs;
    fs.add_dir("/cache/fxgraph");
    fs.add_file(directory + "/k.autotune.json", text);
    Lines ids;
    for (const auto& finding : verify_tree(fs, "/cache").findings) {
      ids.emplace_back(finding.check->id);
      CHECK(finding.severity == verify::Severity::kError);
    }
    return ids;
  };
  CHECK(
      judge(R"({"key": [1], "configs_timings": [[{"kwargs": {}}, Infinity], [{"kwargs": {}}, [1.5, 1, 2]]]})")
          .empty());
  CHECK(judge(R"({"key": [1], "configs_timings": []})") == Lines{"file.shape"});
  CHECK(judge(R"({"key": [1], "configs_timings": [[{"kwargs": {}}]]})") == Lines{"file.shape"});
  CHECK(judge(R"({"key": [1], "configs_timings": [[{}, 1]]})") == Lines{"file.shape"});
  CHECK(judge(R"({"key": [1], "configs_timings": [[{"kwargs": {}}, "x"]]})") == Lines{"file.shape"});
  CHECK(judge(R"({"key": [1], "configs_tim)") == Lines{"file.truncated"});
}

TEST_SUITE_END();
