#include "verify/entry_deep.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "base/memory_file_system.h"
#include "verify/machine_checks.h"

using namespace cachetool;
using namespace cachetool::verify;

namespace {

std::string entry_file(const std::string& name) {
  std::ifstream file(CACHETOOL_TEST_DATA "/entries/" + name, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

FileReport look(const std::string& bytes, const EntryScrutiny& scrutiny) {
  Budget budget = Budget::for_input(bytes.size());
  const auto decoded = torch::decode_entry(bytes, budget);
  REQUIRE(decoded);
  FileReport report(0, "entry");
  check_entry_deep(*decoded, scrutiny, budget, report);
  return report;
}

std::uint64_t checked(const FileReport& report, const Check& check) {
  const auto found = report.coverage().find(&check);
  return found == report.coverage().end() ? 0 : found->second.checked;
}

std::size_t count(const FileReport& report, const Check& check) {
  std::size_t result = 0;
  for (const Finding& finding : report.findings())
    if (finding.check == &check) ++result;
  return result;
}

/// Replaces the first text of that length; both have the same.
std::string with(std::string bytes, const std::string& from, const std::string& to) {
  REQUIRE(from.size() == to.size());
  const std::size_t at = bytes.find(from);
  REQUIRE(at != std::string::npos);
  return bytes.replace(at, from.size(), to);
}

TargetMachine gpu(const std::string& request) {
  static MemoryFileSystem fs;
  auto target = describe_target(fs, {}, {}, *parse_target(request));
  REQUIRE(target);
  return std::move(*target);
}

const EntryScrutiny kDeepOnly{Depth::kDeep, nullptr};

}  // namespace

TEST_SUITE_BEGIN("verify/entry_deep");

TEST_CASE("without --deep and a machine nothing is looked at") {
  const FileReport report = look(entry_file("fxgraph-2.6.0-cuda.pkl"), {});
  CHECK(report.findings().empty());
  CHECK(report.coverage().empty());
}

TEST_CASE("kernels that an entry carries fit their metadata") {
  const std::string bytes = entry_file("fxgraph-2.6.0-cuda.pkl");
  const FileReport report = look(bytes, kDeepOnly);
  CHECK(report.findings().empty());
  CHECK(checked(report, checks::kCubinKernel) > 0);
  CHECK(checked(report, checks::kCubinThreads) == checked(report, checks::kCubinKernel));
  CHECK(checked(report, checks::kCubinDevice) == 0);
}

TEST_CASE("another kernel's name, another number of warps") {
  const std::string bytes = entry_file("fxgraph-2.6.0-cuda.pkl");
  const FileReport renamed = look(with(bytes, "\"name\": \"triton_", "\"name\": \"Triton_"), kDeepOnly);
  CHECK(count(renamed, checks::kCubinKernel) == 1);
  CHECK(renamed.findings().size() == 1);
  const std::size_t at = bytes.find("\"num_warps\": ");
  REQUIRE(at != std::string::npos);
  std::string warps = bytes;
  warps[at + 13] = warps[at + 13] == '9' ? '3' : '9';
  const FileReport changed = look(warps, kDeepOnly);
  CHECK(count(changed, checks::kCubinThreads) == 1);
  CHECK(changed.findings().size() == 1);
}

TEST_CASE("kernels that an entry carries are judged against a GPU without --deep too") {
  const std::string bytes = entry_file("fxgraph-2.6.0-cuda.pkl");
  const TargetMachine hopper = gpu("arch=sm_90");
  const TargetMachine ampere = gpu("arch=sm_80");
  const FileReport fits = look(bytes, {Depth::kDefault, &hopper});
  CHECK(fits.findings().empty());
  CHECK(checked(fits, checks::kCubinDevice) > 0);
  const FileReport other = look(bytes, {Depth::kDefault, &ampere});
  CHECK(count(other, checks::kCubinDevice) == checked(fits, checks::kCubinDevice));
  CHECK(checked(other, checks::kCubinKernel) == 0);
  CHECK(other.findings().front().message.starts_with("bundled triton_"));
}

TEST_CASE("tensors of real entries can be rebuilt; one whose storage says less can't") {
  const std::string bytes = entry_file("fxgraph-2.6.0-constants.pkl");
  const FileReport report = look(bytes, kDeepOnly);
  CHECK(report.findings().empty());
  CHECK(checked(report, checks::kTensorStorage) > 0);
  // The key of the storage in the stream that holds it, which the list of keys behind it repeats.
  const FileReport torn = look(with(bytes, "FloatStorage", "FloatStorag_"), kDeepOnly);
  CHECK(count(torn, checks::kTensorStorage) >= 1);
}

TEST_SUITE_END();
