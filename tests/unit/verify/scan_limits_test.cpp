#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "unit/container/archive_bytes.h"
#include "unit/pickle/pickle_bytes.h"
#include "verify/scan/scan_bytes.h"

using namespace cachetool;
using namespace cachetool::verify;
using pickle::little;
using pickle::raw;
using pickle::repeat;

TEST_SUITE_BEGIN("verify/scan_limits");

namespace {

const std::string kData = raw("\x80\x04]K\x01\x61.");

std::string bytes_value(const std::string& bytes) {
  return "B" + little(bytes.size(), 4) + bytes;
}

}  // namespace

TEST_CASE("a bomb stops at the limit: some of it is unscanned") {
  const std::string zeros(4 << 20, '\0');
  ScanLimits limits;
  limits.max_expanded_bytes = 1 << 20;
  for (const std::string& bomb :
       {test::gzipped(zeros), test::zstd_packed(zeros), test::make_zip({{"a", zeros, true}}),
        test::gzipped(test::gzipped(zeros))}) {
    const FileScan scan = scan_bytes(bomb, {}, limits);
    CHECK(scan.verdict == ScanVerdict::kUnscanned);
    CHECK(scan.expanded_bytes <= limits.max_expanded_bytes);
    CHECK_FALSE(scan.unscanned.empty());
  }
}

TEST_CASE("the limit is of the whole file, not of each member") {
  const std::string zeros(600 << 10, '\0');
  ScanLimits limits;
  limits.max_expanded_bytes = 1 << 20;
  const FileScan scan =
      scan_bytes(test::make_zip({{"a", zeros, true}, {"b", zeros, true}, {"c", zeros, true}}), {}, limits);
  CHECK(scan.unscanned.size() == 2);
  CHECK(scan.expanded_bytes == limits.max_expanded_bytes);
}

TEST_CASE("what lies deeper than allowed is unscanned") {
  std::string nested = kData;
  for (int i = 0; i < 30; ++i) nested = raw("\x80\x04") + bytes_value(nested) + ".";
  CHECK(scan_bytes(nested).verdict == ScanVerdict::kUnscanned);
  CHECK(scan_bytes(nested).pickles == 17);
  ScanLimits limits;
  limits.max_depth = 40;
  CHECK(scan_bytes(nested, {}, limits).verdict == ScanVerdict::kData);
}

TEST_CASE("an archive of archives of itself ends") {
  std::string zip = test::make_zip({{"x", kData}});
  for (int i = 0; i < 6; ++i) {
    std::vector<test::ZipPart> parts;
    for (int j = 0; j < 8; ++j) parts.push_back({std::to_string(j), zip, true});
    zip = test::make_zip(parts);
  }
  ScanLimits limits;
  limits.max_pieces = 5000;
  const FileScan scan = scan_bytes(zip, {}, limits);
  CHECK(scan.verdict == ScanVerdict::kUnscanned);
  CHECK(scan.pickles < 5000);
}

TEST_CASE("members that overlap are not looked at again and again") {
  // One large stored member, named by 2000 records of the directory.
  const std::string body = repeat(std::string("("), 1 << 20);
  std::string zip = test::make_zip({{"a", body}});
  const std::size_t directory = zip.rfind(std::string("PK\x01\x02", 4));
  const std::size_t end = zip.rfind(std::string("PK\x05\x06", 4));
  const std::string record = zip.substr(directory, end - directory);
  const std::string all = repeat(record, 2000);
  zip = zip.substr(0, directory) + all + std::string("PK\x05\x06", 4) + little(0, 4) + little(2000, 2) +
        little(2000, 2) + little(all.size(), 4) + little(directory, 4) + little(0, 2);
  const FileScan scan = scan_bytes(zip);
  CHECK(scan.verdict == ScanVerdict::kMalformed);
  CHECK_FALSE(scan.unscanned.empty());
}

TEST_CASE("hostile pickles end with a verdict") {
  const std::string hostile[] = {
      raw("\x80\x04") + "Nr" + little(0xffffffff, 4) + ".",            // a memo index of 2^32
      raw("\x80\x04\x8e") + little(std::uint64_t{1} << 40, 8) + "x.",  // bytes of a TiB
      raw("\x80\x04\x95") + little(std::uint64_t{1} << 40, 8) + "N.",  // a frame of a TiB
      raw("\x80\x04") + repeat("]", 200'000) + repeat("a", 199'999) + ".",
      raw("\x80\x04") + repeat("(", 200'000) + repeat("t", 200'000) + ".",
      raw("\x80\x04)") + repeat("2\x86", 40) + ".",                    // 2^40 values
      raw("\x80\x04}q") + raw("\x00)") + repeat("2\x86", 40) + "Ns.",  // as a key
      "cos\nsystem\n" + repeat("(", 200'000),
  };
  for (const std::string& bytes : hostile) {
    const FileScan scan = scan_bytes(bytes);
    CAPTURE(verdict_name(scan.verdict));
    CHECK(scan.verdict >= ScanVerdict::kUnknown);
  }
}

TEST_CASE(
    "running out of memory that the user allowed is unscanned; needing more than any pickle does is "
    "malformed") {
  const std::string list = raw("\x80\x04]") + repeat("Na", 100'000) + ".";
  CHECK(scan_bytes(list).verdict == ScanVerdict::kData);
  ScanLimits limits;
  limits.max_memory = 10'000;
  CHECK(scan_bytes(list, {}, limits).verdict == ScanVerdict::kUnscanned);
}

TEST_CASE("findings are bounded and counted") {
  std::string many = raw("\x80\x04(");
  for (int i = 0; i < 5000; ++i)
    many += pickle::short_text("m" + std::to_string(i)) + pickle::short_text("f") + "\x93";
  const FileScan scan = scan_bytes(many + "l.");
  CHECK(scan.findings.size() == 100);
  CHECK(scan.total_findings == 5000);
}

TEST_SUITE_END();
