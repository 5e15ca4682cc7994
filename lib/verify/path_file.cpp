#include "verify/path_file.h"

#include <algorithm>

namespace cachetool::verify {

std::string_view directory_of_path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

Expected<PathFile> open_path(FileSystem& fs, std::string_view path) {
  constexpr int kMaxLinks = 16;
  std::string at(path);
  for (int links = 0; links <= kMaxLinks; ++links) {
    const std::string directory(directory_of_path(at));
    const auto name = Name::parse(std::string_view(at).substr(at.rfind('/') + 1));
    if (directory.empty() || !name) return fail(ErrorCode::kUsage, "not an absolute path of a file", at);
    const auto handle = fs.open_root(directory);
    if (!handle) return tl::unexpected(handle.error());
    const auto stat = fs.stat(**handle, *name);
    if (!stat) return tl::unexpected(stat.error());
    if (stat->type != FileType::kSymlink) {
      auto file = fs.open_file(**handle, *name);
      if (!file) return tl::unexpected(std::move(file.error()));
      return PathFile{std::move(at), std::move(*file), stat->size};
    }
    const auto target = fs.read_link(**handle, *name);
    if (!target) return tl::unexpected(target.error());
    at = target->starts_with('/') ? *target : directory + (directory == "/" ? "" : "/") + *target;
  }
  return fail(ErrorCode::kNotRegular, "too many links", std::string(path));
}

Expected<std::string> read_exactly(FileSystem& fs, const File& file, std::uint64_t offset,
                                   std::uint64_t size) {
  std::string bytes(size, '\0');
  for (std::uint64_t done = 0; done < size;) {
    const auto read = fs.read_at(file, offset + done, std::span(bytes).subspan(done));
    if (!read) return tl::unexpected(read.error());
    if (*read == 0) return fail(ErrorCode::kTruncated, "the file ends early", {}, offset + done);
    done += *read;
  }
  return bytes;
}

Expected<std::string> read_path(FileSystem& fs, std::string_view path, std::uint64_t max_bytes) {
  constexpr std::uint64_t kStep = 64 << 10;
  auto opened = open_path(fs, path);
  if (!opened) return tl::unexpected(std::move(opened.error()));
  std::string bytes;
  while (true) {
    const std::size_t done = bytes.size();
    if (done > max_bytes) return fail(ErrorCode::kLimitSize, "the file is too large", std::string(path));
    bytes.resize(done + std::max(kStep, opened->size - std::min<std::uint64_t>(done, opened->size)));
    if (bytes.size() > max_bytes + kStep) bytes.resize(max_bytes + kStep);
    const auto read = fs.read_at(*opened->file, done, std::span(bytes).subspan(done));
    if (!read) return tl::unexpected(read.error());
    bytes.resize(done + *read);
    if (*read == 0) return bytes;
  }
}

std::vector<std::string> list_path(FileSystem& fs, std::string_view path) {
  std::vector<std::string> names;
  const auto handle = fs.open_root(path);
  if (!handle) return names;
  const auto entries = fs.list(**handle);
  if (!entries) return names;
  for (const DirEntry& entry : *entries) names.push_back(entry.name.str());
  return names;
}

}  // namespace cachetool::verify
