#include "container/zip_directory.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace cachetool::container {
namespace {

constexpr std::string_view kLocal("PK\x03\x04", 4);
constexpr std::string_view kCentral("PK\x01\x02", 4);
constexpr std::string_view kEnd("PK\x05\x06", 4);
constexpr std::string_view kEnd64("PK\x06\x06", 4);
constexpr std::string_view kLocator64("PK\x06\x07", 4);
constexpr std::string_view kDescriptor("PK\x07\x08", 4);

constexpr std::size_t kLocalSize = 30;
constexpr std::size_t kCentralSize = 46;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kEnd64Size = 56;
constexpr std::size_t kLocator64Size = 20;
constexpr std::size_t kMaxComment = 0xffff;
constexpr std::uint16_t kHasDescriptor = 8;
constexpr std::uint32_t kIn64 = 0xffffffff;

std::uint64_t number(std::string_view bytes, std::size_t at, unsigned count) {
  std::uint64_t value = 0;
  for (unsigned i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

/// Position of the last end record within reach of the end, or npos.
std::size_t find_end(std::string_view bytes) {
  if (bytes.size() < kEndSize) return std::string_view::npos;
  const std::size_t plain = bytes.size() - kEndSize;
  if (bytes.substr(plain).starts_with(kEnd) && number(bytes, plain + 20, 2) == 0) return plain;
  const std::size_t reach = std::min(bytes.size(), kEndSize + kMaxComment);
  const std::string_view tail = bytes.substr(bytes.size() - reach, reach - kEndSize + kEnd.size());
  std::size_t last = std::string_view::npos;
  for (std::size_t at = 0; at < tail.size();) {
    const void* found = ::memmem(tail.data() + at, tail.size() - at, kEnd.data(), kEnd.size());
    if (found == nullptr) break;
    last = static_cast<std::size_t>(static_cast<const char*>(found) - tail.data());
    at = last + 1;
  }
  return last == std::string_view::npos ? last : bytes.size() - reach + last;
}

/// What the end record says, zip64's taken in.
struct End {
  std::uint64_t position = 0;  ///< where the directory must end
  std::uint64_t count = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
};

/// Sizes and offset of one header, zip64's taken in.
struct Sizes {
  std::uint64_t size = 0;
  std::uint64_t packed = 0;
  std::uint64_t header = 0;
};

/// Replaces what is kIn64 by the numbers of the zip64 extra field; false when they aren't there.
bool widen(std::string_view extra, Sizes& sizes, bool with_header) {
  std::uint64_t* wanted[3];
  std::size_t count = 0;
  if (sizes.size == kIn64) wanted[count++] = &sizes.size;
  if (sizes.packed == kIn64) wanted[count++] = &sizes.packed;
  if (with_header && sizes.header == kIn64) wanted[count++] = &sizes.header;
  if (count == 0) return true;
  while (extra.size() >= 4) {
    const std::size_t length = number(extra, 2, 2);
    if (length > extra.size() - 4) return false;
    if (number(extra, 0, 2) == 1) {
      for (std::size_t i = 0; i < count; ++i) {
        if (length < (i + 1) * 8) return false;
        *wanted[i] = number(extra, 4 + i * 8, 8);
      }
      return true;
    }
    extra.remove_prefix(4 + length);
  }
  return false;
}

class Reader {
 public:
  Reader(std::string_view bytes, std::size_t max_records) : bytes_(bytes), max_records_(max_records) {}

  Expected<ZipDirectory> read() {
    const std::size_t position = find_end(bytes_);
    if (position == std::string_view::npos)
      return fail(ErrorCode::kTruncated, "a zip archive without its directory", {}, bytes_.size());
    if (auto done = read_end(position); !done) return tl::unexpected<Error>(done.error());
    if (auto done = read_records(); !done) return tl::unexpected<Error>(done.error());
    check_extents();
    return std::move(directory_);
  }

 private:
  void problem(std::uint64_t offset, std::string text) {
    if (directory_.problems.size() < kMaxZipProblems)
      directory_.problems.push_back({offset, std::move(text)});
  }

  bool inside(std::uint64_t offset, std::uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }

  Status read_end(std::size_t position) {
    end_ = {position, number(bytes_, position + 10, 2), number(bytes_, position + 12, 4),
            number(bytes_, position + 16, 4)};
    if (position + kEndSize + number(bytes_, position + 20, 2) != bytes_.size())
      problem(position, "the archive's comment doesn't end where the file does");
    if (number(bytes_, position + 4, 4) != 0)
      problem(position, "the archive says that it is one of several disks");
    if (number(bytes_, position + 8, 2) != number(bytes_, position + 10, 2))
      problem(position, "the end record has two numbers of members");
    if (position >= kLocator64Size && bytes_.substr(position - kLocator64Size).starts_with(kLocator64))
      return read_end64(position);
    return {};
  }

  Status read_end64(std::size_t position) {
    const std::uint64_t at = number(bytes_, position - kLocator64Size + 8, 8);
    const std::uint64_t expected =
        position >= kLocator64Size + kEnd64Size ? position - kLocator64Size - kEnd64Size : 0;
    if (!inside(at, kEnd64Size) || !bytes_.substr(at).starts_with(kEnd64))
      return fail(ErrorCode::kMalformed, "the zip64 end record isn't where its locator says", {},
                  position - kLocator64Size);
    if (at != expected) problem(at, "the zip64 end record isn't in front of its locator");
    const End small = end_;
    end_ = {at, number(bytes_, at + 32, 8), number(bytes_, at + 40, 8), number(bytes_, at + 48, 8)};
    const bool differ = (small.count != 0xffff && small.count != end_.count) ||
                        (small.size != kIn64 && small.size != end_.size) ||
                        (small.offset != kIn64 && small.offset != end_.offset);
    if (differ) problem(at, "the zip64 end record and the plain one disagree");
    return {};
  }

  Status read_records() {
    if (end_.size > end_.position)
      return fail(ErrorCode::kMalformed, "the archive's directory is larger than the file", {},
                  end_.position);
    if (end_.count > max_records_)
      return fail(ErrorCode::kLimitSize, fmt::format("a zip archive of more than {} members", max_records_));
    // Readers differ about bytes in front of an archive: the directory is where it ends, not where it says.
    const std::uint64_t begin = end_.position - end_.size;
    if (begin < end_.offset)
      return fail(ErrorCode::kMalformed, "the archive's directory isn't where the end record says", {},
                  end_.position);
    shift_ = begin - end_.offset;
    if (shift_ != 0) problem(0, fmt::format("{} bytes in front of the archive", shift_));
    std::uint64_t at = begin;
    std::unordered_set<std::string_view> names;
    while (at < end_.position) {
      if (!inside(at, kCentralSize) || at + kCentralSize > end_.position ||
          !bytes_.substr(at).starts_with(kCentral))
        return fail(ErrorCode::kMalformed, "the archive's directory breaks off", {}, at);
      if (directory_.records.size() == max_records_)
        return fail(ErrorCode::kLimitSize,
                    fmt::format("a zip archive of more than {} members", max_records_));
      const std::uint64_t name = number(bytes_, at + 28, 2);
      const std::uint64_t extra = number(bytes_, at + 30, 2);
      const std::uint64_t next = at + kCentralSize + name + extra + number(bytes_, at + 32, 2);
      if (next > end_.position)
        return fail(ErrorCode::kMalformed, "the archive's directory breaks off", {}, at);
      if (auto done = read_record(at, name, extra); !done) return done;
      if (!names.insert(directory_.records.back().name).second) problem(at, "two members have the same name");
      at = next;
    }
    if (directory_.records.size() != end_.count)
      problem(end_.position, fmt::format("the end record counts {} members, the directory has {}", end_.count,
                                         directory_.records.size()));
    directory_begin_ = begin;
    return {};
  }

  Status read_record(std::uint64_t at, std::uint64_t name, std::uint64_t extra) {
    ZipRecord record;
    record.flags = static_cast<std::uint16_t>(number(bytes_, at + 8, 2));
    record.method = static_cast<std::uint16_t>(number(bytes_, at + 10, 2));
    record.name = bytes_.substr(at + kCentralSize, name);
    record.crc = static_cast<std::uint32_t>(number(bytes_, at + 16, 4));
    Sizes sizes{number(bytes_, at + 24, 4), number(bytes_, at + 20, 4), number(bytes_, at + 42, 4)};
    if (!widen(bytes_.substr(at + kCentralSize + name, extra), sizes, true))
      return fail(ErrorCode::kMalformed, "a zip member's 64-bit sizes are missing", {}, at);
    if (record.name.find('\0') != std::string_view::npos) problem(at, "a member's name holds a NUL byte");
    record.size = sizes.size;
    const std::uint64_t header = sizes.header > UINT64_MAX - shift_ ? UINT64_MAX : sizes.header + shift_;
    if (!inside(header, kLocalSize) || !bytes_.substr(header).starts_with(kLocal))
      return fail(ErrorCode::kMalformed, "a zip member has no header where the directory says", {}, at);
    const std::uint64_t local_name = number(bytes_, header + 26, 2);
    const std::uint64_t local_extra = number(bytes_, header + 28, 2);
    record.data_offset = header + kLocalSize + local_name + local_extra;
    if (record.data_offset > bytes_.size() || sizes.packed > bytes_.size() - record.data_offset)
      return fail(ErrorCode::kTruncated, "a zip member runs past the end of the file", {}, at);
    record.data = bytes_.substr(record.data_offset, sizes.packed);
    compare(header, record, sizes);
    if (record.method == kZipStored && !record.is_encrypted() && sizes.size != sizes.packed)
      problem(at, "a stored member has two sizes");
    extents_.emplace_back(header, record.data_offset + sizes.packed);
    directory_.records.push_back(record);
    return {};
  }

  /// The member's own header against the directory's record.
  void compare(std::uint64_t header, const ZipRecord& record, const Sizes& sizes) {
    const std::uint64_t name = number(bytes_, header + 26, 2);
    const auto local_flags = static_cast<std::uint16_t>(number(bytes_, header + 6, 2));
    Sizes local{number(bytes_, header + 22, 4), number(bytes_, header + 18, 4), 0};
    const bool wide =
        widen(bytes_.substr(header + kLocalSize + name, number(bytes_, header + 28, 2)), local, false);
    if (bytes_.substr(header + kLocalSize, name) != record.name)
      problem(header, "a member's own header has another name than the directory");
    if (number(bytes_, header + 8, 2) != record.method)
      problem(header, "a member's own header has another compression than the directory");
    if (((local_flags ^ record.flags) & 1) != 0)
      problem(header, "header and directory disagree on whether a member is encrypted");
    const bool later = (local_flags & kHasDescriptor) != 0;
    if (!later && number(bytes_, header + 14, 4) != record.crc)
      problem(header, "a member's own header has another checksum than the directory");
    const bool same = wide && local.size == sizes.size && local.packed == sizes.packed;
    if (!same && !(later && (local.size == 0 || local.size == kIn64)))
      problem(header, "a member's own header has other sizes than the directory");
  }

  /// Members may not overlap, and no member may hide between them.
  void check_extents() {
    std::sort(extents_.begin(), extents_.end());
    std::uint64_t end = shift_;
    for (const auto& [from, to] : extents_) {
      if (from < end) problem(from, "members overlap");
      if (from > end) check_gap(end, from);
      end = std::max(end, to);
    }
    if (end > directory_begin_) problem(directory_begin_, "a member reaches into the directory");
    if (end < directory_begin_) check_gap(end, directory_begin_);
  }

  void check_gap(std::uint64_t from, std::uint64_t to) {
    std::string_view gap = bytes_.substr(from, to - from);
    if (gap.starts_with(kDescriptor)) gap.remove_prefix(std::min<std::size_t>(gap.size(), 24));
    if (gap.find(kLocal) != std::string_view::npos) problem(from, "a member that the directory doesn't list");
  }

  std::string_view bytes_;
  std::size_t max_records_;
  ZipDirectory directory_;
  End end_;
  std::uint64_t shift_ = 0;
  std::uint64_t directory_begin_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> extents_;
};

}  // namespace

bool starts_as_zip(std::string_view bytes) {
  return bytes.starts_with(kLocal) || bytes.starts_with(kEnd);
}

bool ends_as_zip(std::string_view bytes) {
  const std::size_t end = find_end(bytes);
  if (end == std::string_view::npos) return false;
  const std::uint64_t size = number(bytes, end + 12, 4);
  if (size == 0) return number(bytes, end + 10, 2) == 0 && end + kEndSize == bytes.size();
  const std::uint64_t before = std::min<std::uint64_t>(end, size);
  const bool plain = size <= end && bytes.substr(end - before).starts_with(kCentral);
  return plain || (end >= kLocator64Size && bytes.substr(end - kLocator64Size).starts_with(kLocator64));
}

Expected<ZipDirectory> read_zip_directory(std::string_view bytes, std::size_t max_records) {
  return Reader(bytes, max_records).read();
}

}  // namespace cachetool::container
