#include "verify/doctor/text_file.h"

#include <algorithm>
#include <array>

#include "store/paths.h"

namespace cachetool::verify {

std::optional<std::string> read_text(FileSystem& fs, std::string_view path, std::size_t max_bytes) {
  const std::string_view above = store::directory_of(path);
  const auto directory = fs.open_root(above.empty() ? "/" : above);
  const auto name = Name::parse(store::name_of(path));
  if (!directory || !name) return std::nullopt;
  const auto file = fs.open_file(**directory, *name);
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 16384> block;
  while (text.size() < max_bytes) {
    const std::size_t wanted = std::min(block.size(), max_bytes - text.size());
    const auto count = fs.read_at(**file, text.size(), std::span(block.data(), wanted));
    if (!count) return std::nullopt;
    if (*count == 0) break;
    text.append(block.data(), *count);
  }
  return text;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace cachetool::verify
