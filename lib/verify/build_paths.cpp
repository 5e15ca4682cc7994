#include "verify/build_paths.h"

#include <algorithm>

#include "base/text.h"

namespace cachetool::verify {
namespace {

constexpr std::size_t kMaxPaths = 4;
constexpr std::size_t kMaxLength = 1024;

/// Start of the absolute path that `at` lies in: behind the last byte that paths of a build don't hold.
std::string_view path_before(std::string_view bytes, std::size_t at) {
  std::size_t start = at;
  while (start > 0 && at - start < kMaxLength) {
    const char c = bytes[start - 1];
    const bool part = c > ' ' && c < '\x7f' && c != '"' && c != '\'' && c != ':' && c != ';';
    if (!part) break;
    --start;
  }
  const std::string_view path = bytes.substr(start, at - start);
  return path.starts_with('/') ? path : std::string_view{};
}

void add(std::vector<std::string>& paths, std::string path) {
  if (paths.size() >= kMaxPaths || std::find(paths.begin(), paths.end(), path) != paths.end()) return;
  paths.push_back(std::move(path));
}

}  // namespace

BuildPaths find_build_paths(std::string_view library) {
  BuildPaths paths;
  constexpr std::string_view kTorch = "-packages/torch/include";
  for (std::size_t at = library.find(kTorch); at != std::string_view::npos;
       at = library.find(kTorch, at + kTorch.size())) {
    const std::string_view before = path_before(library, at);
    if (!before.empty()) add(paths.torch, std::string(before).append(kTorch));
  }
  constexpr std::string_view kPython = "/include/python3.";
  for (std::size_t at = library.find(kPython); at != std::string_view::npos;
       at = library.find(kPython, at + kPython.size())) {
    const std::string_view before = path_before(library, at);
    std::size_t end = at + kPython.size();
    while (end < library.size() && (is_digit(library[end]) || library[end] == 't')) ++end;
    if (end > at + kPython.size())
      add(paths.python, std::string(before).append(library.substr(at, end - at)));
  }
  return paths;
}

}  // namespace cachetool::verify
