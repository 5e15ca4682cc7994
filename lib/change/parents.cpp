#include "change/parents.h"

#include <algorithm>
#include <string>

namespace cachetool::change {

Expected<std::vector<Name>> parse_path(std::string_view path) {
  constexpr std::size_t kLongest = 4096;
  const auto refuse = [path](std::string_view why) {
    return fail(ErrorCode::kUsage, std::string("no path that may be changed: ") + std::string(why),
                std::string(path.substr(0, kLongest)));
  };
  if (path.empty()) return refuse("it is empty");
  if (path.size() > kLongest) return refuse("it is longer than 4096 bytes");
  std::vector<Name> names;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    auto name = Name::parse(path.substr(begin, end - begin));
    if (!name) return refuse(name.error().message);
    names.push_back(std::move(*name));
    begin = end + 1;
  }
  if (names.front().str() == ".cachetool") return refuse("it is in cachetool's own state");
  return names;
}

Expected<store::OpenPlace> Parents::walk(std::string_view path, std::optional<std::uint32_t> mode) {
  auto names = parse_path(path);
  if (!names) return tl::unexpected(std::move(names.error()));
  const std::size_t parents = names->size() - 1;
  std::size_t same = 0;
  while (same < parents && same < open_.size() && open_[same].first == (*names)[same]) ++same;
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(same), open_.end());
  for (std::size_t i = same; i < parents; ++i) {
    const Directory& above = open_.empty() ? *top_ : *open_.back().second;
    auto next = mode ? open_or_make(fs_, above, (*names)[i], *mode) : fs_.open_dir(above, (*names)[i]);
    if (!next) return tl::unexpected(at_path(std::move(next.error()), path));
    open_.emplace_back((*names)[i], std::move(*next));
  }
  return store::OpenPlace{open_.empty() ? top_ : open_.back().second, std::move(names->back())};
}

Expected<DirHandle> open_or_make(FileSystem& fs, const Directory& dir, const Name& name, std::uint32_t mode) {
  auto opened = fs.open_dir(dir, name);
  if (opened || opened.error().code != ErrorCode::kNotFound) return opened;
  auto made = fs.make_dir(dir, name, mode);
  if (!made) {
    return made.error().code == ErrorCode::kExists ? fs.open_dir(dir, name) : std::move(made);
  }
  if (auto synced = fs.sync(dir); !synced) return tl::unexpected(std::move(synced.error()));
  return made;
}

Error at_path(Error error, std::string_view path) {
  error.path = path;
  return error;
}

}  // namespace cachetool::change
