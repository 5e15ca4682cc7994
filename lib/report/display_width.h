#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cachetool::report {

/// Terminal columns that `text` takes: 2 for East Asian wide characters and emoji, 0 for combining marks and
/// joiners, 1 otherwise. A byte that is not UTF-8 counts as one column. The text is expected to be escaped
/// already (escape_for_terminal), so control characters aren't special here.
std::size_t display_width(std::string_view text);

/// The longest prefix of `text` that fits `width` columns. When something had to go, the last column is "…".
std::string fit_width(std::string_view text, std::size_t width);

}  // namespace cachetool::report
