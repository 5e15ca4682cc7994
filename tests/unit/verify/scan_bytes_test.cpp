#include "verify/scan/scan_bytes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "base/utf8.h"
#include "unit/pickle/pickle_bytes.h"
#include "verify/scan/content.h"

using namespace cachetool;
using namespace cachetool::verify;
using pickle::little;
using pickle::raw;
using pickle::repeat;
using pickle::short_text;

TEST_SUITE_BEGIN("verify/scan_bytes");

namespace {

/// Calls os.system("true"), protocol 4, without frames.
const std::string kEvil =
    raw("\x80\x04") + short_text("os") + short_text("system") + "\x93" + short_text("true") + "\x85R.";
/// The same in protocol 0.
const std::string kTextEvil = "cos\nsystem\n(S'true'\ntR.";

std::string bytes_value(const std::string& bytes) {
  return "B" + little(bytes.size(), 4) + bytes;
}
std::string pickle_of(const std::string& value) {
  return raw("\x80\x04") + value + ".";
}
/// {key: value}
std::string dict_of(const std::string& key, const std::string& value) {
  return "}" + short_text(key) + value + "s";
}

/// A text with a code point for each byte.
std::string as_latin1(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) append_utf8(text, static_cast<unsigned char>(c));
  return text;
}

const ScanFinding* finding(const FileScan& scan, std::string_view name) {
  const auto found = std::find_if(scan.findings.begin(), scan.findings.end(),
                                  [&](const ScanFinding& each) { return each.name == name; });
  return found == scan.findings.end() ? nullptr : &*found;
}

const CodeItem* code(const FileScan& scan, std::string_view what) {
  const auto found = std::find_if(scan.code.begin(), scan.code.end(),
                                  [&](const CodeItem& each) { return each.what == what; });
  return found == scan.code.end() ? nullptr : &*found;
}

std::string entry(const std::string& name) {
  std::ifstream file(CACHETOOL_TEST_DATA "/entries/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("real entries are data and carry code") {
  const FileScan scan = scan_bytes(entry("fxgraph-2.6.0-cuda.pkl"));
  CHECK(scan.content == "pickle");
  CHECK(scan.verdict == ScanVerdict::kData);
  CHECK(scan.findings.empty());
  CHECK(scan.unscanned.empty());
  CHECK(scan.expressions > 0);
  REQUIRE(code(scan, "source_code"));
  CHECK(code(scan, "source_code")->count == 1);
  CHECK(code(scan, "source_code")->bytes > 1000);
  CHECK(code(scan, "cubin"));
  CHECK(code(scan, "ptx"));
}

TEST_CASE("tensors inside an entry are looked into") {
  const FileScan scan = scan_bytes(entry("fxgraph-2.6.0-constants.pkl"));
  CHECK(scan.verdict == ScanVerdict::kData);
  CHECK(scan.pickles > 5);  // five for each storage
}

TEST_CASE("a pickle that calls is dangerous in every protocol, with the name and its place") {
  for (const std::string& bytes : {kEvil, kTextEvil}) {
    const FileScan scan = scan_bytes(bytes);
    CHECK(scan.verdict == ScanVerdict::kDangerous);
    REQUIRE(finding(scan, "os.system"));
    CHECK(finding(scan, "os.system")->subject == ScanSubject::kName);
  }
  CHECK(finding(scan_bytes("\x80\x04N0" + kTextEvil), "os.system")->offset == 4);
}

TEST_CASE("a broken pickle that acts first is dangerous; one that doesn't is malformed") {
  const FileScan acts = scan_bytes(kEvil.substr(0, kEvil.size() - 1));
  CHECK(acts.verdict == ScanVerdict::kDangerous);
  CHECK(finding(acts, "os.system"));
  CHECK(finding(acts, "broken"));
  const FileScan text = scan_bytes(kTextEvil.substr(0, kTextEvil.size() - 1) + "?");
  CHECK(text.verdict == ScanVerdict::kDangerous);
  const FileScan cut = scan_bytes(raw("\x80\x04\x95") + little(100, 8) + "]");
  CHECK(cut.verdict == ScanVerdict::kMalformed);
  CHECK(finding(cut, "broken")->offset == 2);
}

TEST_CASE("a pickle without PROTO is found whatever stands in front of what it looks up") {
  const std::string long_text(70'000, 'a');
  const std::string fronts[] = {
      "I0\n0",
      "N0",
      ")0",
      raw("\x8f\x30"),
      raw("\x8e\x01\0\0\0\0\0\0\0a0"),
      raw("\x96\x01\0\0\0\0\0\0\0a0"),
      "I" + std::string(5000, ' ') + "1\n0",
      "V" + long_text + "\n0",
      "X" + little(long_text.size(), 4) + long_text + "0",
  };
  const std::string without_proto = kEvil.substr(2);
  for (const std::string& front : fronts) {
    for (const std::string& evil : {kTextEvil, without_proto}) {
      CAPTURE(front.substr(0, 12));
      CHECK(scan_bytes(front + evil, {}).verdict == ScanVerdict::kDangerous);
      const FileScan nested = scan_bytes(pickle_of(bytes_value(front + evil)), {});
      CHECK(nested.verdict == ScanVerdict::kDangerous);
    }
  }
}

TEST_CASE("a pickle that starts like something else is both") {
  const std::string clang_header = "CPCH" + std::string(78, 'x') + "0" + kTextEvil;
  const std::string byte_code = "V\r\r\n0" + kTextEvil;
  const std::string bzip = raw("BZh\0\0") + std::string(0x685a, 'x') + "0" + kTextEvil;
  std::string tar = kTextEvil + std::string(512 - kTextEvil.size(), '\0');
  tar.replace(257, 6, raw("ustar\0"));
  tar.replace(148, 8, std::string(8, ' '));
  unsigned sum = 0;
  for (const char c : tar) sum += static_cast<unsigned char>(c);
  std::string octal(6, '0');
  for (auto digit = octal.rbegin(); digit != octal.rend(); ++digit, sum /= 8)
    *digit = static_cast<char>('0' + sum % 8);
  tar.replace(148, 8, octal + raw("\0 "));
  tar += std::string(1024, '\0');
  CHECK(scan_bytes(tar, {}).content == "tar");
  for (const std::string& both : {clang_header, byte_code, bzip, tar}) {
    CAPTURE(both.substr(0, 4));
    CHECK(scan_bytes(both, {}).verdict == ScanVerdict::kDangerous);
  }
  CHECK(!told_by_head(Content::kPrecompiledHeader, clang_header));
  CHECK(told_by_head(Content::kPrecompiledHeader, "gpch"));
}

TEST_CASE("what no pickler writes is malformed, and a dropped call is judged all the same") {
  const FileScan leftovers = scan_bytes(raw("\x80\x04NN."));
  CHECK(leftovers.verdict == ScanVerdict::kMalformed);
  CHECK(finding(leftovers, "stack-leftovers"));
  const FileScan dropped = scan_bytes(kEvil.substr(0, kEvil.size() - 1) + "0N.");
  CHECK(dropped.verdict == ScanVerdict::kDangerous);
  CHECK(finding(dropped, "dropped-call"));
  const FileScan second = scan_bytes(raw("\x80\x04\x80\x04N."));
  CHECK(finding(second, "second-proto"));
}

TEST_CASE("what follows a pickle is malformed and scanned too") {
  const FileScan scan = scan_bytes(pickle_of("N") + kEvil);
  CHECK(finding(scan, "trailing-bytes"));
  REQUIRE(finding(scan, "os.system"));
  CHECK(finding(scan, "os.system")->offset == 4 + 14);
  CHECK(scan.verdict == ScanVerdict::kDangerous);
}

TEST_CASE("payloads inside values are found by their content") {
  const std::string base64 = "gASMAm9zjAZzeXN0ZW2TjAR0cnVlhVIu";  // of kEvil
  const std::string values[] = {
      bytes_value(kEvil),    bytes_value(kTextEvil),       bytes_value(pickle_of(bytes_value(kEvil))),
      short_text(kTextEvil), short_text(as_latin1(kEvil)), short_text(base64),
      bytes_value(base64)};
  for (const std::string& value : values) {
    CAPTURE(value);
    const FileScan scan = scan_bytes(pickle_of(dict_of("key", value)));
    CHECK(scan.verdict == ScanVerdict::kDangerous);
    CHECK(finding(scan, "os.system"));
  }
  const FileScan nested = scan_bytes(pickle_of(bytes_value(kEvil)));
  CHECK(finding(nested, "os.system")->offset == 2 + 5 + 14);  // where it is in the file
}

TEST_CASE("offsets in text that an escape changed count from its own start, and the place says so") {
  const FileScan scan = scan_bytes("(Vcos\\u000asystem\\u000a(tR.\nl.");
  CHECK(scan.verdict == ScanVerdict::kDangerous);
  REQUIRE(finding(scan, "os.system"));
  CHECK(finding(scan, "os.system")->place == "text@28");
  CHECK(finding(scan, "os.system")->offset == 0);
}

TEST_CASE("bytes and text that are nothing by themselves stay data") {
  for (const std::string& value :
       {bytes_value(raw("\x80\x04 no pickle")), bytes_value("\x80"), short_text("cat\ndog\n"),
        short_text("(a tuple)"), short_text("gASSSSSSSSSSSSSSSSSS"), bytes_value("PK but no archive"),
        bytes_value(repeat("\0", 100))}) {
    CAPTURE(value);
    const FileScan scan = scan_bytes(pickle_of(value));
    CHECK(scan.verdict == ScanVerdict::kData);
    CHECK(scan.pickles == 1);
  }
}

TEST_CASE("plain files have no pickle, and say what they carry") {
  CHECK(scan_bytes("").content == "empty");
  CHECK(scan_bytes("").verdict == ScanVerdict::kNone);
  CHECK(scan_bytes("cat\ndog\nhouse\n").verdict == ScanVerdict::kNone);
  CHECK(scan_bytes("import os\nos.system('true')\n").code.at(0).what == "python");
  CHECK(scan_bytes("#include <x>\n").code.at(0).what == "c++");
  CHECK(scan_bytes("//\n.version 8.7\n.target sm_90a\n").code.at(0).what == "ptx");
  CHECK(scan_bytes("{\"a\": 1}").code.empty());
  CHECK(scan_bytes("x = 1\n", {.name = "odd.py"}).code.at(0).what == "python");
  std::string elf = raw("\x7f"
                        "ELF\x02\x01\x01") +
                    std::string(57, '\0');
  elf[16] = 3;
  elf[18] = 62;
  CHECK(scan_bytes(elf).code.at(0).what == "shared-object");
  elf[18] = static_cast<char>(190);
  elf[16] = 2;
  CHECK(scan_bytes(elf).code.at(0).what == "cubin");
  CHECK(scan_bytes("import os\n", {.only_read = true}).code.empty());
  CHECK(scan_bytes("import os\n", {.code = "module"}).code.at(0).what == "module");
}

TEST_CASE("something that is unpickled must be a pickle") {
  const ScanHints hints{.expect = Expect::kPickle};
  CHECK(scan_bytes("", hints).verdict == ScanVerdict::kMalformed);
  CHECK(scan_bytes("hello world", hints).verdict == ScanVerdict::kMalformed);
  CHECK(scan_bytes(kTextEvil, hints).verdict == ScanVerdict::kDangerous);
  CHECK(scan_bytes(pickle_of("N"), hints).verdict == ScanVerdict::kData);
}

TEST_CASE("guards and strides have to be expressions of sizes") {
  const auto scan_field = [](const std::string& field, const std::string& value) {
    return scan_bytes(pickle_of(dict_of(field, value)));
  };
  for (const char* field : {"guards_expr", "fx_graph_guard_expr"}) {
    CAPTURE(field);
    const FileScan good = scan_field(field, short_text("2 <= L['t0'] and L['t0'] <= 8"));
    CHECK(good.verdict == ScanVerdict::kData);
    CHECK(good.expressions == 1);
    const FileScan evil = scan_field(field, short_text("L['t0'] < __import__('os').system('true')"));
    CHECK(evil.verdict == ScanVerdict::kDangerous);
    REQUIRE(finding(evil, field));
    CHECK(finding(evil, field)->subject == ScanSubject::kExpression);
    // Where the forbidden name stands in the file.
    CHECK(finding(evil, field)->offset == 2 + 1 + 2 + std::string(field).size() + 2 + 10);
    CHECK(scan_field(field, bytes_value("1")).verdict == ScanVerdict::kDangerous);
    CHECK(scan_field(field, short_text("")).verdict == ScanVerdict::kData);
    CHECK(scan_field(field, "N").verdict == ScanVerdict::kData);
  }
  const FileScan strides =
      scan_field("output_strides", "]" + short_text("4*s27") + short_text("1") + "\x86" + "aNa");
  CHECK(strides.verdict == ScanVerdict::kData);
  CHECK(strides.expressions == 2);
  for (const std::string& odd : {"]" + short_text("print(1)") + "\x85" + "a", short_text("exit()"),
                                 dict_of("exit()", "N"), "]]" + short_text("exit()") + "aa"}) {
    CAPTURE(odd);
    CHECK(scan_field("output_strides", odd).verdict == ScanVerdict::kDangerous);
  }
}

TEST_CASE("fields that hold code are named") {
  const FileScan scan = scan_bytes(pickle_of(
      dict_of("source_code", short_text("import os")) + short_text("co_code") + bytes_value("\x97") + "s" +
      short_text("execution_code") + short_text("def f(): pass") + "s"));
  CHECK(code(scan, "source_code")->bytes == 9);
  CHECK(code(scan, "bytecode")->bytes == 1);
  CHECK(code(scan, "execution_code")->count == 1);
  CHECK(scan_bytes(pickle_of(dict_of("source_code", short_text("")))).code.empty());
}

TEST_CASE("base64 in JSON is looked into, twice where it has to be") {
  const std::string base64 = "gASMAm9zjAZzeXN0ZW2TjAR0cnVlhVIu";
  const FileScan scan = scan_bytes("{\"data\": \"" + base64 + "\", \"time\": 1}");
  CHECK(scan.content == "json");
  CHECK(scan.verdict == ScanVerdict::kDangerous);
  CHECK(scan_bytes("{\"data\": \"gASV is short\"}").verdict == ScanVerdict::kNone);
}

TEST_CASE("the worst findings are kept, however many lesser ones come first") {
  std::string many = raw("\x80\x04(");
  for (int i = 0; i < 300; ++i) many += short_text("m" + std::to_string(i)) + short_text("f") + "\x93";
  many += short_text("os") + short_text("system") + "\x93" + ")Rl.";
  const FileScan scan = scan_bytes(many);
  CHECK(scan.verdict == ScanVerdict::kDangerous);
  CHECK(scan.findings.size() == 100);
  CHECK(scan.total_findings > 300);
  CHECK(finding(scan, "os.system"));
}

TEST_SUITE_END();
