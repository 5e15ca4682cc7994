#include "base/file_system.h"

#include <fmt/format.h>

#include <new>
#include <stdexcept>
#include <utility>

#include "base/text.h"

namespace cachetool {
namespace {

constexpr std::size_t kKeptCapacity = std::size_t{4} << 20;

/// Makes buffer.size() `size` without clearing what is about to be overwritten, and without keeping a large
/// allocation for a small file. False when there is no memory.
bool prepare(std::string& buffer, std::uint64_t size) {
  if (size > buffer.max_size()) return false;
  const auto wanted = static_cast<std::size_t>(size);
  if (buffer.capacity() < wanted || (buffer.capacity() > kKeptCapacity && wanted <= kKeptCapacity)) {
    std::string().swap(buffer);
  }
  try {
    buffer.resize(wanted);
  } catch (const std::bad_alloc&) {
    return false;
  } catch (const std::length_error&) {
    return false;
  }
  return true;
}

}  // namespace

Expected<Name> Name::parse(std::string_view text) {
  constexpr std::size_t kLongest = 255;
  const auto no_name = [text](std::string_view why) {
    return fail(ErrorCode::kUsage,
                fmt::format("'{}' is not a file name: {}", escape_for_terminal(text), why));
  };
  if (text.empty()) return no_name("it is empty");
  if (text == "." || text == "..") return no_name("it stands for a directory");
  if (text.find('/') != std::string_view::npos) return no_name("it contains a slash");
  if (text.find('\0') != std::string_view::npos) return no_name("it contains a NUL byte");
  if (text.size() > kLongest) return no_name("it is longer than 255 bytes");
  return Name(std::string(text));
}

std::string_view file_type_name(FileType type) {
  switch (type) {
    case FileType::kRegular:
      return "regular file";
    case FileType::kDirectory:
      return "directory";
    case FileType::kSymlink:
      return "symbolic link";
    case FileType::kFifo:
      return "FIFO";
    case FileType::kSocket:
      return "socket";
    case FileType::kDevice:
      return "device";
    case FileType::kUnknown:
      return "file of unknown type";
  }
  return "file of unknown type";
}

Expected<FileStat> read_file(FileSystem& fs, const Directory& dir, const Name& name, std::uint64_t max_bytes,
                             std::string& buffer) {
  auto file = fs.open_file(dir, name);
  if (!file) return tl::unexpected(std::move(file.error()));
  auto stat = fs.stat(**file);
  if (!stat) return tl::unexpected(std::move(stat.error()));
  if (stat->size > max_bytes) {
    return fail(ErrorCode::kLimitSize,
                fmt::format("the file has {} bytes, more than the limit of {}", stat->size, max_bytes),
                name.str());
  }
  if (!prepare(buffer, stat->size)) {
    return fail(ErrorCode::kLimitMemory, fmt::format("no memory for the {} bytes of the file", stat->size),
                name.str());
  }

  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const auto count = fs.read_at(**file, filled, std::span(buffer).subspan(filled));
    if (!count) {
      Error error = count.error();
      if (error.path.empty()) error.path = name.str();
      return tl::unexpected(std::move(error));
    }
    if (*count == 0) break;
    filled += *count;
  }
  buffer.resize(filled);
  return *stat;
}

}  // namespace cachetool
