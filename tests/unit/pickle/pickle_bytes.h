#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pickle/document.h"

namespace cachetool::pickle {

/// "…" with embedded zeros as a string.
template <std::size_t N>
std::string raw(const char (&text)[N]) {
  return std::string(text, N - 1);
}

inline std::string little(std::uint64_t value, unsigned bytes) {
  std::string text;
  for (unsigned i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

inline std::string repeat(std::string_view text, std::size_t count) {
  std::string result;
  result.reserve(text.size() * count);
  for (std::size_t i = 0; i < count; ++i) result += text;
  return result;
}

inline std::string short_text(std::string_view text) {
  return raw("\x8c") + static_cast<char>(text.size()) + std::string(text);
}

/// Decodes under the default budget; the document owns the bytes.
inline Expected<Document> decode(std::string bytes) {
  Budget budget = Budget::for_input(bytes.size());
  return parse_owned(std::move(bytes), budget);
}

inline bool has_deviation(const Document& document, Deviation::Kind kind) {
  for (const Deviation& deviation : document.deviations()) {
    if (deviation.kind == kind) return true;
  }
  return false;
}

}  // namespace cachetool::pickle
