#include "report/display_width.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace cachetool::report {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Unicode 15: combining marks and format characters that take no column.
constexpr std::array<Range, 30> kZeroWidth{{
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a},   {0x064b, 0x065f},
    {0x0670, 0x0670}, {0x06d6, 0x06dc}, {0x06df, 0x06e4}, {0x0730, 0x074a},   {0x0900, 0x0902},
    {0x093c, 0x093c}, {0x0941, 0x0948}, {0x0e31, 0x0e31}, {0x0e34, 0x0e3a},   {0x0e47, 0x0e4e},
    {0x1160, 0x11ff}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},   {0x202a, 0x202e},
    {0x2060, 0x2064}, {0x20d0, 0x20f0}, {0x302a, 0x302d}, {0x3099, 0x309a},   {0xa66f, 0xa672},
    {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0x1f3fb, 0x1f3ff}, {0xe0100, 0xe01ef},
}};

// East Asian Width W and F, and emoji that terminals draw in two columns.
constexpr std::array<Range, 25> kWide{{
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x25fd, 0x25fe},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x26a1, 0x26a1},   {0x2705, 0x2705},   {0x274c, 0x274c},   {0x2e80, 0x303e},
    {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97c},   {0xac00, 0xd7a3},
    {0xf900, 0xfaff},   {0xfe30, 0xfe6b},   {0xff01, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb}, {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
}};

template <std::size_t N>
bool contains(const std::array<Range, N>& ranges, char32_t point) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), point,
                                      [](char32_t value, const Range& range) { return value < range.first; });
  return after != ranges.begin() && point <= std::prev(after)->last;
}

std::size_t width_of(char32_t point) {
  if (point < 0x300) return 1;
  if (contains(kZeroWidth, point)) return 0;
  return contains(kWide, point) ? 2 : 1;
}

struct Character {
  std::size_t bytes;
  std::size_t width;
};

// The character at the start of `text`, which isn't empty.
Character next_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (length == 1 || length > text.size()) return {1, 1};
  char32_t point = lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {1, 1};
    point = (point << 6) | (byte(i) & 0x3fu);
  }
  return {length, width_of(point)};
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character character = next_character(text);
    width += character.width;
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string fit_width(std::string_view text, std::size_t width) {
  if (width == 0) return {};
  std::size_t columns = 0;
  std::size_t cut = 0;  // bytes that fit beside an ellipsis
  std::string_view rest = text;
  while (!rest.empty()) {
    const Character character = next_character(rest);
    if (columns + character.width > width) return std::string(text.substr(0, cut)) + "…";
    columns += character.width;
    rest.remove_prefix(character.bytes);
    if (columns <= width - 1) cut = text.size() - rest.size();
  }
  return std::string(text);
}

}  // namespace cachetool::report
