#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file_system.h"

namespace cachetool::verify {

/// The text of a small file, at most `max_bytes` of it, such as one of /proc (whose sizes are given as 0) or
/// a package's version.py. Empty when it can't be read.
std::optional<std::string> read_text(FileSystem& fs, std::string_view path, std::size_t max_bytes = 1 << 20);

/// Calls `line(text)` for each line, without its newline.
template <class Line>
void for_each_line(std::string_view text, Line line) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    line(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

/// Without blanks at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace cachetool::verify
