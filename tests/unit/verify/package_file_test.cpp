#include "verify/package_file.h"

#include <doctest/doctest.h>

#include "container/frame.h"
#include "unit/verify/run.h"

using namespace cachetool;
using namespace verify_tests;

TEST_SUITE_BEGIN("verify/package_file");

namespace {

void append(std::string& bytes, std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i, value >>= 8) bytes += static_cast<char>(value & 0xff);
}

/// The part that a member's own header and its row of the directory have in common.
std::string common_fields(const std::string& content, std::size_t name_size) {
  std::string fields;
  append(fields, 20, 2);  // version needed
  append(fields, 0, 2);   // flags
  append(fields, 0, 2);   // stored
  append(fields, 0, 4);   // time
  append(fields, container::crc32(content), 4);
  append(fields, content.size(), 4);
  append(fields, content.size(), 4);
  append(fields, name_size, 2);
  append(fields, 0, 2);  // extra
  return fields;
}

/// A zip archive of stored members.
std::string zip(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string bytes;
  std::string directory;
  for (const auto& [name, content] : members) {
    directory += std::string("PK\x01\x02", 4);
    append(directory, 20, 2);
    directory += common_fields(content, name.size());
    append(directory, 0, 2);  // comment
    append(directory, 0, 2);  // disk
    append(directory, 0, 2);  // attributes
    append(directory, 0, 4);
    append(directory, bytes.size(), 4);
    directory += name;
    bytes += std::string("PK\x03\x04", 4) + common_fields(content, name.size()) + name + content;
  }
  const std::size_t begin = bytes.size();
  bytes += directory + std::string("PK\x05\x06", 4);
  append(bytes, 0, 4);
  append(bytes, members.size(), 2);
  append(bytes, members.size(), 2);
  append(bytes, directory.size(), 4);
  append(bytes, begin, 4);
  append(bytes, 0, 2);
  return bytes;
}

Lines verify_package(const std::string& bytes) {
  MemoryFileSystem fs;
  fs.add_dir("/cache/fxgraph");
  fs.add_file("/cache/model.pt2", bytes);
  const auto result = verify_tree(fs, "/cache");
  for (const auto& finding : result.findings) CHECK(finding.repair.empty());
  return lines_of(result);
}

const std::string kSource = "model/data/aotinductor/model/c.wrapper.cpp";
const std::string kGood = zip({{kSource, "int main() {}"}, {"model/archive_format", "pt2"}});

Lines damaged(std::size_t offset, char value) {
  std::string bytes = kGood;
  bytes[offset] = value;
  return verify_package(bytes);
}

}  // namespace

TEST_CASE("a package that is whole") {
  CHECK(verify_package(kGood).empty());
}

TEST_CASE("a package that was cut anywhere is one finding") {
  for (std::size_t length = 0; length < kGood.size(); ++length) {
    CAPTURE(length);
    const std::string id = length == 0 ? "file.empty" : "zip.damaged";
    CHECK(verify_package(kGood.substr(0, length)) == Lines{"error " + id + " model.pt2"});
  }
}

TEST_CASE("contents, headers and directory must agree") {
  const Lines expected{"error zip.damaged model.pt2"};
  const std::size_t content = kGood.find("int main");
  CHECK(damaged(content, 'I') == expected);
  const std::size_t own_name = kGood.find(kSource);
  CHECK(damaged(own_name, 'M') == expected);
  const std::size_t listed_name = kGood.rfind(kSource);
  CHECK(damaged(listed_name, 'M') == expected);
  CHECK(verify_package("PK\x03\x04 and no more") == expected);
  CHECK(verify_package("no zip") == expected);
}

TEST_CASE("a zip archive without a model is no package") {
  CHECK(verify_package(zip({{"model/archive_format", "pt2"}})) == Lines{"error file.shape model.pt2"});
}

TEST_SUITE_END();
