#include "container/tar.h"

#include <functional>
#include <memory>
#include <utility>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

namespace cachetool::container {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kChecksum = 148;
constexpr std::size_t kChecksumSize = 8;

struct Close {
  void operator()(archive* handle) const { archive_read_free(handle); }
};

Error broken(archive* handle) {
  const char* text = archive_error_string(handle);
  return {ErrorCode::kMalformed,
          fmt::format("not a readable tar archive: {}", text ? text : "unknown reason"),
          {},
          {},
          {}};
}

/// Where the member's bytes lie, as long as libarchive hands out pieces of the memory that it reads from.
std::optional<Error> find_bytes(archive* handle, std::string_view bytes, std::uint64_t size,
                                TarMember& member) {
  const std::less_equal<const char*> not_after;
  std::uint64_t expected = 0;
  const char* begin = nullptr;
  for (;;) {
    const void* block = nullptr;
    std::size_t length = 0;
    la_int64_t at = 0;
    const int result = archive_read_data_block(handle, &block, &length, &at);
    if (result == ARCHIVE_EOF) break;
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) return broken(handle);
    if (length == 0) continue;
    const auto* data = static_cast<const char*>(block);
    const bool inside =
        not_after(bytes.data(), data) && not_after(data + length, bytes.data() + bytes.size());
    if (!inside || at < 0 || static_cast<std::uint64_t>(at) != expected ||
        (begin && data != begin + expected)) {
      member.in_one_piece = false;
    } else if (begin == nullptr) {
      begin = data;
    }
    expected += length;
  }
  if (expected != size) member.in_one_piece = false;
  if (member.in_one_piece && begin != nullptr) {
    member.offset = static_cast<std::uint64_t>(begin - bytes.data());
    member.bytes = bytes.substr(member.offset, size);
  }
  return {};
}

}  // namespace

bool looks_like_tar(std::string_view bytes) {
  if (bytes.size() < kBlock || bytes[0] == '\0') return false;
  std::uint64_t declared = 0;
  bool any = false;
  for (std::size_t i = kChecksum; i < kChecksum + kChecksumSize; ++i) {
    const char c = bytes[i];
    if (c >= '0' && c <= '7') {
      declared = declared * 8 + static_cast<std::uint64_t>(c - '0');
      any = true;
    } else if (any || (c != ' ' && c != '\0')) {
      if (c != ' ' && c != '\0') return false;
      break;
    }
  }
  if (!any) return false;
  std::uint64_t sum = kChecksumSize * ' ';
  std::int64_t signed_sum = kChecksumSize * ' ';
  for (std::size_t i = 0; i < kBlock; ++i) {
    if (i >= kChecksum && i < kChecksum + kChecksumSize) continue;
    sum += static_cast<unsigned char>(bytes[i]);
    signed_sum += static_cast<signed char>(bytes[i]);
  }
  return sum == declared || signed_sum == static_cast<std::int64_t>(declared);
}

TarListing list_tar(std::string_view bytes, std::size_t max_members) {
  TarListing listing;
  const auto stop = [&](Error error) {
    listing.error = std::move(error);
    return std::move(listing);
  };
  const std::unique_ptr<archive, Close> handle(archive_read_new());
  if (!handle) return stop({ErrorCode::kLimitMemory, "no memory for reading a tar archive", {}, {}, {}});
  archive_read_support_format_tar(handle.get());
  if (archive_read_open_memory(handle.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
    return stop(broken(handle.get()));
  for (std::size_t count = 0;;) {
    archive_entry* entry = nullptr;
    const int result = archive_read_next_header(handle.get(), &entry);
    if (result == ARCHIVE_EOF) return listing;
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) return stop(broken(handle.get()));
    if (++count > max_members) {
      return stop({ErrorCode::kLimitSize,
                   fmt::format("a tar archive of more than {} members", max_members),
                   {},
                   {},
                   {}});
    }
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr) continue;
    const char* name = archive_entry_pathname(entry);
    TarMember member;
    member.name = name ? name : "";
    const la_int64_t size = archive_entry_size(entry);
    auto error = find_bytes(handle.get(), bytes, size > 0 ? static_cast<std::uint64_t>(size) : 0, member);
    listing.members.push_back(std::move(member));
    if (error) return stop(std::move(*error));
  }
}

}  // namespace cachetool::container
