#include "torch/key.h"

#include <cstddef>
#include <utility>

namespace cachetool::torch {

namespace {

constexpr std::size_t kBase32Length = 51;  // 255 of 256 bits

/// The digest with its last bit cleared, which 51 base32 characters can't hold.
Sha256Digest truncated(Sha256Digest digest) {
  digest.back() &= 0xfe;
  return digest;
}

/// Python's str.isspace() for one code point, as str.strip() uses it.
bool is_python_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

/// Code point of the two- or three-byte sequence at the start of `text`; 0 when there is none. Every white
/// space character beyond ASCII is that short.
char32_t short_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  if (text.empty()) return 0;
  if ((byte(0) & 0xe0) == 0xc0 && text.size() == 2 && continues(1)) {
    return static_cast<char32_t>(((byte(0) & 0x1f) << 6) | (byte(1) & 0x3f));
  }
  if ((byte(0) & 0xf0) == 0xe0 && text.size() == 3 && continues(1) && continues(2)) {
    return static_cast<char32_t>(((byte(0) & 0x0f) << 12) | ((byte(1) & 0x3f) << 6) | (byte(2) & 0x3f));
  }
  return 0;
}

/// Bytes of the white space character at the start of `text`, 0 when there is none.
std::size_t leading_space(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return is_python_space(first) ? 1 : 0;
  for (std::size_t length = 2; length <= 3 && length <= text.size(); ++length) {
    if (is_python_space(short_sequence(text.substr(0, length)))) return length;
  }
  return 0;
}

/// The same at the end.
std::size_t trailing_space(std::string_view text) {
  if (text.empty()) return 0;
  const auto last = static_cast<unsigned char>(text.back());
  if (last < 0x80) return is_python_space(last) ? 1 : 0;
  for (std::size_t length = 2; length <= 3 && length <= text.size(); ++length) {
    if (is_python_space(short_sequence(text.substr(text.size() - length)))) return length;
  }
  return 0;
}

}  // namespace

std::optional<HashName> HashName::parse(std::string_view text) {
  HashName name;
  if (text.size() == kBase32Length + 1) {
    const char prefix = text[0];
    if (prefix != 'f' && prefix != 'a' && prefix != 'c') return std::nullopt;
    name.prefix = prefix;
    text.remove_prefix(1);
  }
  if (text.size() != kBase32Length) return std::nullopt;
  // One more character, 'a' (five zero bits), completes the 256th bit; its other four bits are padding.
  std::array<char, kBase32Length + 1> padded{};
  text.copy(padded.data(), kBase32Length);
  padded.back() = 'a';
  if (!from_base32({padded.data(), padded.size()}, name.digest)) return std::nullopt;
  return name;
}

std::string HashName::str() const {
  if (*this == HashName{}) return {};
  std::string text;
  text.reserve(kBase32Length + 1);
  if (prefix != '\0') text += prefix;
  text.append(to_base32(digest), 0, kBase32Length);
  return text;
}

HashName content_hash(std::string_view bytes) {
  return HashName{'\0', truncated(sha256(bytes))};
}

HashName code_hash(std::string_view code, std::string_view extra) {
  if (extra.empty()) return HashName{'c', truncated(sha256(code))};
  Sha256Stream stream;
  stream.update(code);
  stream.update("||");
  stream.update(extra);
  return code_hash(std::move(stream));
}

HashName code_hash(Sha256Stream stream) {
  return HashName{'c', truncated(stream.finish())};
}

std::string_view python_strip(std::string_view text) {
  while (const std::size_t length = leading_space(text)) text.remove_prefix(length);
  while (const std::size_t length = trailing_space(text)) text.remove_suffix(length);
  return text;
}

}  // namespace cachetool::torch
