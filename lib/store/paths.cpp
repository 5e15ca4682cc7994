#include "store/paths.h"

namespace cachetool::store {

std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> components;
  std::size_t begin = 0;
  while (begin < path.size()) {
    std::size_t end = path.find('/', begin);
    if (end == std::string_view::npos) end = path.size();
    if (end > begin) components.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return components;
}

std::string join_path(std::string_view directory, std::string_view name) {
  std::string joined(directory);
  if (!joined.empty() && joined.back() != '/' && !name.empty()) joined += '/';
  joined += name;
  return joined;
}

std::string_view directory_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_within(std::string_view directory, std::string_view path) {
  if (directory.empty()) return true;
  if (!path.starts_with(directory)) return false;
  return path.size() == directory.size() || path[directory.size()] == '/' || directory.back() == '/';
}

Expected<DirHandle> open_below(FileSystem& fs, const DirHandle& root, std::string_view path) {
  DirHandle current = root;
  for (const std::string_view component : split_path(path)) {
    auto name = Name::parse(component);
    if (!name) return tl::unexpected(std::move(name.error()));
    auto next = fs.open_dir(*current, *name);
    if (!next) {
      next.error().path = std::string(path);
      return next;
    }
    current = std::move(*next);
  }
  return current;
}

Expected<OpenPlace> open_parent(FileSystem& fs, const DirHandle& root, std::string_view path) {
  const auto components = split_path(path);
  if (components.empty()) return fail(ErrorCode::kUsage, "a file's name is missing", std::string(path));
  auto name = Name::parse(components.back());
  if (!name) return tl::unexpected(std::move(name.error()));
  const auto parent_length = static_cast<std::size_t>(components.back().data() - path.data());
  auto directory = open_below(fs, root, path.substr(0, parent_length));
  if (!directory) {
    directory.error().path = std::string(path);
    return tl::unexpected(std::move(directory.error()));
  }
  return OpenPlace{std::move(*directory), std::move(*name)};
}

}  // namespace cachetool::store
