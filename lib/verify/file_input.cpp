#include "verify/file_input.h"

#include <algorithm>

namespace cachetool::verify {

Expected<FileInput> FileInput::open(FileSystem& fs, const Inventory& inventory, FileId id,
                                    const Directory& directory, const Options& options, std::string& buffer) {
  auto name = Name::parse(inventory.file(id).name);
  if (!name) return tl::unexpected(std::move(name.error()));
  FileInput input;
  auto handle = fs.open_file(directory, *name);
  if (!handle) {
    Error error = std::move(handle.error());
    if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kVanished;
    return tl::unexpected(std::move(error));
  }
  input.handle_ = std::move(*handle);
  auto stat = fs.stat(*input.handle_);
  if (!stat) return tl::unexpected(std::move(stat.error()));
  input.stat_ = *stat;
  input.fs_ = &fs;
  input.inventory_ = &inventory;
  input.id_ = id;
  input.options_ = &options;
  input.buffer_ = &buffer;
  return input;
}

Expected<std::string_view> FileInput::whole() {
  const std::uint64_t limit =
      store::is_entry(kind()) ? options_->limits.max_entry_bytes : options_->max_file_bytes;
  if (stat_.size > limit) {
    return fail(ErrorCode::kLimitSize,
                std::to_string(stat_.size) + " bytes, more than the limit of " + std::to_string(limit),
                path());
  }
  return head(stat_.size);
}

Expected<std::string_view> FileInput::head(std::size_t bytes) {
  constexpr std::size_t kKeptCapacity = std::size_t{4} << 20;
  const std::size_t wanted = std::min<std::uint64_t>(bytes, stat_.size);
  if (buffer_->capacity() > kKeptCapacity && wanted <= kKeptCapacity) std::string().swap(*buffer_);
  buffer_->resize(wanted);
  auto read = read_at(0, {buffer_->data(), wanted});
  if (!read) return tl::unexpected(std::move(read.error()));
  buffer_->resize(*read);
  return std::string_view(*buffer_);
}

Expected<std::size_t> FileInput::read_at(std::uint64_t offset, std::span<char> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    auto read = fs_->read_at(*handle_, offset + done, out.subspan(done));
    if (!read) return tl::unexpected(std::move(read.error()));
    if (*read == 0) break;
    done += *read;
  }
  return done;
}

}  // namespace cachetool::verify
