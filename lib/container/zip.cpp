#include "container/zip.h"

#include <functional>
#include <memory>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

namespace cachetool::container {
namespace {

struct Close {
  void operator()(archive* handle) const { archive_read_free(handle); }
};
using Archive = std::unique_ptr<archive, Close>;

tl::unexpected<Error> broken(archive* handle) {
  const char* text = archive_error_string(handle);
  return fail(ErrorCode::kMalformed,
              fmt::format("not a readable zip archive: {}", text ? text : "unknown reason"));
}

Expected<Archive> open(std::string_view bytes) {
  Archive handle(archive_read_new());
  if (!handle) return fail(ErrorCode::kLimitMemory, "no memory for reading a zip archive");
  if (!bytes.starts_with("PK")) return fail(ErrorCode::kMalformed, "not a zip archive", {}, 0);
  archive_read_support_format_zip_seekable(handle.get());
  if (archive_read_open_memory(handle.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
    return broken(handle.get());
  return handle;
}

/// The next member, or null behind the last one.
Expected<archive_entry*> next(archive* handle, const ZipLimits& limits, std::uint32_t& members) {
  archive_entry* entry = nullptr;
  const int result = archive_read_next_header(handle, &entry);
  if (result == ARCHIVE_EOF) return static_cast<archive_entry*>(nullptr);
  if (result != ARCHIVE_OK && result != ARCHIVE_WARN) return broken(handle);
  if (++members > limits.max_members) {
    return fail(ErrorCode::kLimitSize,
                fmt::format("a zip archive of more than {} members", limits.max_members));
  }
  const char* name = archive_entry_pathname(entry);
  if (!name) return fail(ErrorCode::kMalformed, "a zip member whose name can't be read");
  if (std::char_traits<char>::length(name) > limits.max_name) {
    return fail(ErrorCode::kLimitSize,
                fmt::format("a zip member's name of more than {} bytes", limits.max_name));
  }
  return entry;
}

}  // namespace

Expected<std::vector<ZipMember>> list_zip(std::string_view bytes, const ZipLimits& limits) {
  auto handle = open(bytes);
  if (!handle) return tl::unexpected<Error>(handle.error());
  std::vector<ZipMember> list;
  for (std::uint32_t members = 0;;) {
    const auto entry = next(handle->get(), limits, members);
    if (!entry) return tl::unexpected<Error>(entry.error());
    if (!*entry) return list;
    if (archive_entry_filetype(*entry) != AE_IFREG) continue;
    ZipMember member;
    member.name = archive_entry_pathname(*entry);
    const auto size = archive_entry_size(*entry);
    member.size = size > 0 ? static_cast<std::uint64_t>(size) : 0;
    const char* format = archive_format_name(handle->get());
    member.stored = format && std::string_view(format).find("(uncompressed)") != std::string_view::npos;
    if (member.stored) {
      const void* block = nullptr;
      std::size_t length = 0;
      la_int64_t at = 0;
      const int result = archive_read_data_block(handle->get(), &block, &length, &at);
      if (result != ARCHIVE_OK && result != ARCHIVE_EOF) return broken(handle->get());
      // libarchive hands out pieces of the memory that it reads from, as long as nothing has to be decoded.
      const auto* data = static_cast<const char*>(block);
      const std::less_equal<const char*> not_after;
      if (result == ARCHIVE_OK && at == 0 && not_after(bytes.data(), data) &&
          not_after(data, bytes.data() + bytes.size())) {
        const auto offset = static_cast<std::uint64_t>(data - bytes.data());
        if (member.size <= bytes.size() - offset) member.offset = offset;
      }
    }
    list.push_back(std::move(member));
  }
}

Expected<std::string> read_zip_member(std::string_view bytes, std::string_view name,
                                      const ZipLimits& limits) {
  auto handle = open(bytes);
  if (!handle) return tl::unexpected<Error>(handle.error());
  for (std::uint32_t members = 0;;) {
    const auto entry = next(handle->get(), limits, members);
    if (!entry) return tl::unexpected<Error>(entry.error());
    if (!*entry) return fail(ErrorCode::kNotFound, fmt::format("no zip member called {}", name));
    if (name != archive_entry_pathname(*entry)) continue;
    std::string content;
    for (;;) {
      const void* block = nullptr;
      std::size_t length = 0;
      la_int64_t at = 0;
      const int result = archive_read_data_block(handle->get(), &block, &length, &at);
      if (result == ARCHIVE_EOF) return content;
      if (result != ARCHIVE_OK) return broken(handle->get());
      if (length > limits.max_member_bytes - content.size()) {
        return fail(ErrorCode::kLimitSize,
                    fmt::format("zip member {} of more than {} bytes", name, limits.max_member_bytes));
      }
      content.append(static_cast<const char*>(block), length);
    }
  }
}

}  // namespace cachetool::container
