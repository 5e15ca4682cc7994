#include "container/zip_members.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "container/expand.h"
#include "container/frame.h"
#include "container/zip_directory.h"

namespace cachetool::container {
namespace {

tl::unexpected<Error> member_error(ErrorCode code, const ZipRecord& record, std::string_view text) {
  return fail(code, fmt::format("member '{}' {}", escape_for_terminal(record.name), text), {},
              record.data_offset);
}

/// Unpacks a deflated member into `unpacked`; `left` is what all may still take.
Expected<std::string_view> inflate(const ZipRecord& record, std::uint64_t left,
                                   std::vector<std::unique_ptr<std::string>>& unpacked) {
  if (record.size > left) return member_error(ErrorCode::kLimitSize, record, "unpacks to more than allowed");
  Expanded expanded = expand(record.data, Compression::kDeflate, {.max_bytes = record.size});
  if (expanded.error) {
    if (expanded.error->code == ErrorCode::kLimitSize)
      return member_error(ErrorCode::kMalformed, record, "unpacks to more than it declares");
    return member_error(ErrorCode::kMalformed, record, "can't be unpacked: " + expanded.error->message);
  }
  if (expanded.bytes.size() != record.size || expanded.consumed != record.data.size())
    return member_error(ErrorCode::kMalformed, record, "unpacks to another size than it declares");
  return *unpacked.emplace_back(std::make_unique<std::string>(std::move(expanded.bytes)));
}

}  // namespace

Expected<ZipContents> read_zip_contents(std::string_view bytes, std::uint64_t max_unpacked) {
  auto directory = read_zip_directory(bytes);
  if (!directory) return tl::unexpected(directory.error());
  if (!directory->problems.empty()) {
    const ZipProblem& problem = directory->problems.front();
    return fail(ErrorCode::kMalformed, "the zip archive: " + problem.text, {}, problem.offset);
  }
  ZipContents contents;
  std::uint64_t left = max_unpacked;
  for (const ZipRecord& record : directory->records) {
    if (record.is_directory() && record.size == 0) continue;
    if (record.is_encrypted()) return member_error(ErrorCode::kUnsupported, record, "is encrypted");
    ZipContent member{record.name, record.data, record.data_offset};
    if (record.method == kZipDeflated) {
      const auto unpacked = inflate(record, left, contents.unpacked);
      if (!unpacked) return tl::unexpected(unpacked.error());
      left -= unpacked->size();
      member.bytes = *unpacked;
    } else if (record.method != kZipStored) {
      return member_error(ErrorCode::kUnsupported, record, "is compressed in a way that isn't read");
    }
    if (crc32(member.bytes) != record.crc)
      return member_error(ErrorCode::kMalformed, record, "has another checksum than declared");
    contents.members.push_back(member);
  }
  return contents;
}

}  // namespace cachetool::container
