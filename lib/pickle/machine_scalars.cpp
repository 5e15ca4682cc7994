// Scalars whose length is counted: strings, bytes, long integers.

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "base/text.h"
#include "pickle/machine.h"
#include "pickle/numbers.h"

namespace cachetool::pickle {
namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080U;

/// True when no byte of `text` has its high bit set. `readable_end` is the end of the memory that may be
/// read: short texts are checked with one wide load where that fits.
inline bool is_ascii(std::string_view text, const char* readable_end) {
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t word = 0;
  if (left < 8) {
    if (left == 0) return true;
    if (readable_end - at >= 8) {
      std::memcpy(&word, at, 8);
      static_assert(std::endian::native == std::endian::little);
      return (word & kHighBits & ((std::uint64_t{1} << (8 * left)) - 1)) == 0;
    }
    std::memcpy(&word, at, left);
    return (word & kHighBits) == 0;
  }
  std::uint64_t seen = 0;
  for (; left >= 32; at += 32, left -= 32) {
    std::uint64_t words[4];
    std::memcpy(words, at, 32);
    seen |= words[0] | words[1] | words[2] | words[3];
  }
  for (; left >= 8; at += 8, left -= 8) {
    std::memcpy(&word, at, 8);
    seen |= word;
  }
  std::memcpy(&word, text.data() + text.size() - 8, 8);
  return ((seen | word) & kHighBits) == 0;
}

}  // namespace

Machine::Position Machine::push_utf8(Position at, std::uint64_t size) {
  if (!available(at, size)) return truncated();
  const std::string_view text(at, size);
  if (!is_ascii(text, end_)) [[unlikely]] {
    const std::size_t bad = find_invalid_utf8(text, Surrogates::kAllowed);
    if (bad != std::string_view::npos)
      return malformed(fmt::format("byte {} of the string is not UTF-8", bad));
  }
  return push(Value::text(Tag::kString, text), at + size);
}

/// Python 2 strings. The unpickler's default encoding is ASCII, and torch doesn't change it.
Machine::Position Machine::push_ascii(Position at, std::uint64_t size) {
  if (!available(at, size)) return truncated();
  const std::string_view text(at, size);
  if (!is_ascii(text, end_)) return malformed("the string is not ASCII");
  return push(Value::text(Tag::kString, text), at + size);
}

Machine::Position Machine::push_view(Tag tag, Position at, std::uint64_t size) {
  if (!available(at, size)) return truncated();
  return push(Value::text(tag, {at, size}), at + size);
}

Machine::Position Machine::counted_long(Position at, unsigned length_bytes) {
  if (!available(at, length_bytes)) return truncated();
  const std::uint64_t size = little_endian(at, length_bytes);
  if (length_bytes == 4 && size > 0x7fffffff) return malformed("the byte count is negative");
  at += length_bytes;
  if (!available(at, size)) return truncated();
  return push_integer_bytes({at, size}, at + size);
}

/// Pushes the integer that `bytes` (little-endian two's complement) encode; they must live as long as the
/// document.
Machine::Position Machine::push_integer_bytes(std::string_view bytes, Position at) {
  bytes = trim_integer(bytes);
  if (bytes.size() <= 8) return push(Value::integer(small_integer(bytes)), at);
  return push(Value::text(Tag::kBigInt, bytes), at);
}

Machine::Position Machine::read_only_buffer(Position at) {
  if (!has_values(1)) return underflow();
  Value& top = stack_.back();
  if (top.is(Tag::kByteArray)) {
    top = Value::text(Tag::kBuffer, top.bytes());
  } else if (!top.is(Tag::kBytes) && !top.is(Tag::kBuffer)) {
    return malformed(fmt::format("a {} has no buffer", type_name(top.tag())));
  }
  return at;
}

}  // namespace cachetool::pickle
