#include "verify/content_mark.h"

#include <algorithm>
#include <functional>
#include <string>

namespace cachetool::verify {

std::uint64_t content_mark(std::string_view bytes) {
  return std::max<std::uint64_t>(std::hash<std::string_view>{}(bytes), 1);
}

std::uint64_t bundled_json_mark(std::string_view text, std::string_view directory) {
  std::string bundled;
  bundled.reserve(text.size());
  for (std::size_t at = text.find(directory); !directory.empty() && at != std::string_view::npos;
       at = text.find(directory)) {
    // The path goes back to the quote before it.
    const std::size_t quote = text.substr(0, at).rfind('"');
    bundled += text.substr(0, quote == std::string_view::npos ? at : quote + 1);
    bundled += "[REPLACE]";
    text.remove_prefix(at + directory.size());
  }
  bundled += text;
  return content_mark(bundled);
}

}  // namespace cachetool::verify
