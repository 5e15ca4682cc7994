#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "container/frame.h"
#include "unit/container/archive_bytes.h"
#include "unit/pickle/pickle_bytes.h"
#include "verify/scan/scan_bytes.h"

using namespace cachetool;
using namespace cachetool::verify;
using pickle::raw;
using test::deflated;
using test::gzipped;
using test::make_tar;
using test::make_zip;
using test::zstd_packed;

TEST_SUITE_BEGIN("verify/scan_containers");

namespace {

const std::string kEvil = raw("\x80\x04\x8c\x02os\x8c\x06system\x93)R.");
const std::string kData = raw("\x80\x04]K\x01\x61.");

const ScanFinding* finding(const FileScan& scan, std::string_view name) {
  const auto found = std::find_if(scan.findings.begin(), scan.findings.end(),
                                  [&](const ScanFinding& each) { return each.name == name; });
  return found == scan.findings.end() ? nullptr : &*found;
}

std::string big(std::uint64_t value) {
  std::string bytes = pickle::little(value, 8);
  std::reverse(bytes.begin(), bytes.end());
  return bytes;
}
/// A part of torch's frames; texts are base64 of ASCII.
std::string part(const std::string& bytes) {
  return big(bytes.size()) + bytes;
}
std::string framed(const std::string& body) {
  std::string crc = pickle::little(container::crc32(body), 4);
  std::reverse(crc.begin(), crc.end());
  return crc + body;
}
/// One group "inductor" with one item called "fabc".
std::string mega_cache(const std::string& content) {
  return framed(big(1) + part("aW5kdWN0b3I=") + big(1) + part("ZmFiYw==") + part(content));
}

/// numpy's array file of that dtype.
std::string npy(const std::string& descr, const std::string& data) {
  const std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (1,), }\n";
  return raw("\x93NUMPY\x01\x00") + pickle::little(header.size(), 2) + header + data;
}

}  // namespace

TEST_CASE("whatever a pickle is wrapped in, it is found, and the place says where") {
  struct Case {
    std::string bytes;
    std::string place;
  };
  const Case cases[] = {
      {make_zip({{"archive/data.pkl", kEvil}}), "archive/data.pkl"},
      {make_zip({{"readme", "hello"}, {"a", kEvil, true}}), "a"},
      {make_zip({{"inner.bin", make_zip({{"b", kEvil}}), true}}), "inner.bin!b"},
      {make_tar({{"x/y", kEvil}}), "x/y"},
      {gzipped(kEvil), "gzip"},
      {deflated(kEvil, 15), "zlib"},
      {zstd_packed(kEvil), "zstd"},
      {gzipped(make_tar({{"z", zstd_packed(kEvil)}})), "gzip!z!zstd"},
      {make_zip({{"a.npy", npy("|O", kEvil)}}), "a.npy"},
      {mega_cache(kEvil), "inductor/fabc"},
      {framed(part(std::string(32, 'k')) + part(std::string(72, 'A')) + part(mega_cache(kEvil))),
       "inductor/fabc"},
      {framed(part("AOTCompiledArtifact") + part(std::string(32, 'k')) + part(kEvil)), ""},
  };
  for (const auto& [bytes, place] : cases) {
    CAPTURE(place);
    const FileScan scan = scan_bytes(bytes);
    CHECK(scan.verdict == ScanVerdict::kDangerous);
    REQUIRE(finding(scan, "os.system"));
    CHECK(finding(scan, "os.system")->place == place);
    CHECK(scan.total_findings == 1);
  }
}

TEST_CASE("offsets count in the file where the bytes lie in it, else in what was unpacked") {
  const std::string mega = mega_cache(kEvil);
  CHECK(finding(scan_bytes(mega), "os.system")->offset == mega.find(kEvil) + 2 + 12);
  CHECK(finding(scan_bytes(gzipped(kEvil)), "os.system")->offset == 2 + 12);
}

TEST_CASE("the same containers around data are data") {
  for (const std::string& bytes :
       {make_zip({{"archive/data.pkl", kData}, {"archive/data/0", std::string(64, '\0')}}),
        make_tar({{"x", kData}}), gzipped(kData), zstd_packed(kData), mega_cache(kData),
        make_zip({{"a.npy", npy("<f8", std::string(8, '\x80'))}, {"p", kData}})}) {
    const FileScan scan = scan_bytes(bytes);
    CHECK(scan.verdict == ScanVerdict::kData);
    CHECK(scan.findings.empty());
    CHECK(scan.pickles == 1);
  }
}

TEST_CASE("persistent ids belong into torch's archives and streams only") {
  const std::string storage =
      raw("\x80\x02(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x00"
          "0X\x03\x00\x00\x00"
          "cpuK\x04tQ.");
  CHECK(scan_bytes(make_zip({{"m/data.pkl", storage}, {"m/data/0", std::string(16, 'x')}})).verdict ==
        ScanVerdict::kData);
  CHECK(scan_bytes(storage).verdict == ScanVerdict::kUnknown);
}

TEST_CASE("torch.save's legacy form: five pickles, then storages, each looked into") {
  const std::string magic = raw("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.");
  const std::string version = raw("\x80\x02M\xe9\x03.");
  const std::string system = raw("\x80\x02}X\x0d\x00\x00\x00little_endian\x88s.");
  const std::string object = raw("\x80\x02(X\x07\x00\x00\x00storagectorch\nByteStorage\nX\x01\x00\x00\x00"
                                 "7X\x03\x00\x00\x00"
                                 "cpuK") +
                             static_cast<char>(kEvil.size()) + "NtQ.";
  const std::string keys =
      raw("\x80\x02]X\x01\x00\x00\x00"
          "7a.");
  const auto stream = [&](const std::string& content) {
    return magic + version + system + object + keys + pickle::little(content.size(), 8) + content;
  };
  const FileScan good = scan_bytes(stream(std::string(kEvil.size(), 'x')));
  CHECK(good.content == "torch.save stream");
  CHECK(good.verdict == ScanVerdict::kData);
  CHECK(good.pickles == 5);
  const FileScan evil = scan_bytes(stream(kEvil));
  CHECK(evil.verdict == ScanVerdict::kDangerous);
  CHECK(finding(evil, "os.system")->offset == stream(kEvil).find(kEvil) + 14);
  CHECK(scan_bytes(stream(std::string(kEvil.size(), 'x')).substr(0, 60)).verdict == ScanVerdict::kMalformed);
  CHECK(scan_bytes(magic + version + kEvil).verdict == ScanVerdict::kDangerous);
}

TEST_CASE("archives that readers disagree about are malformed") {
  CHECK(finding(scan_bytes(make_zip({{"good", kData, false, "evil"}})), "zip"));
  CHECK(scan_bytes(make_zip({{"a", kData}, {"a", kData}})).verdict == ScanVerdict::kMalformed);
  CHECK(scan_bytes(make_zip({{"a", kData}}).substr(0, 60)).verdict == ScanVerdict::kMalformed);
  const FileScan polyglot = scan_bytes(raw("\x01\x02\x03\x00") + make_zip({{"a", kEvil}}));
  CHECK(polyglot.verdict == ScanVerdict::kDangerous);
  CHECK(finding(polyglot, "zip"));
}

TEST_CASE("a member whose checksum doesn't fit is malformed, stored or packed") {
  for (const bool packed : {false, true}) {
    std::string zip = make_zip({{"a", kData, packed}});
    CHECK(scan_bytes(zip).verdict == ScanVerdict::kData);
    const std::size_t record = zip.rfind(raw("PK\x01\x02"));
    zip[14] = static_cast<char>(zip[14] ^ 1);
    CHECK(finding(scan_bytes(zip), "zip"));  // header and directory disagree
    zip[record + 16] = static_cast<char>(zip[record + 16] ^ 1);
    REQUIRE(finding(scan_bytes(zip), "zip"));
    CHECK(finding(scan_bytes(zip), "zip")->place == "a");
  }
}

TEST_CASE("damage in frames and streams is malformed, and what came before it is scanned") {
  std::string mega = mega_cache(kData);
  mega.back() = 'x';
  CHECK(scan_bytes(mega).verdict == ScanVerdict::kMalformed);
  CHECK(finding(scan_bytes(mega), "mega-cache"));
  const FileScan cut = scan_bytes(gzipped(kEvil + std::string(100'000, 'x')).substr(0, 80));
  CHECK(finding(cut, "gzip"));
  CHECK(finding(cut, "os.system"));
  const FileScan behind = scan_bytes(gzipped(kData) + kEvil);
  CHECK(finding(behind, "gzip"));
  CHECK(finding(behind, "os.system"));
}

TEST_CASE("what can't be unpacked is unscanned, never data") {
  const FileScan encrypted = scan_bytes(make_zip({{.name = "a", .content = kData, .flags = 1}}));
  CHECK(encrypted.verdict == ScanVerdict::kUnscanned);
  REQUIRE(encrypted.unscanned.size() == 1);
  CHECK(encrypted.unscanned[0].place == "a");
  CHECK(scan_bytes("BZh91AY&SY").verdict == ScanVerdict::kUnscanned);
  CHECK(scan_bytes(raw("\xfd"
                       "7zXZ\0\0\0"))
            .verdict == ScanVerdict::kUnscanned);
}

TEST_CASE("code in archives is told by name and content") {
  const FileScan scan =
      scan_bytes(make_zip({{"m/code/a.py", "x = 1"}, {"m/k.wrapper.cpp", "int x;"}, {"m/data.pkl", kData}}));
  REQUIRE(scan.code.size() == 2);
  CHECK(scan.code[0].what == "c++");
  CHECK(scan.code[1].what == "python");
}

TEST_SUITE_END();
