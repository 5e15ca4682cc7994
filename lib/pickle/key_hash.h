#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "pickle/value.h"

namespace cachetool::pickle {

/// Folds two words into one by a wide multiplication.
inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a ^ 0x2d358dccaa6c78a5U) * (b ^ 0x8bb84b93962eacc9U);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Hash of the contents of strings and bytes (`tag` keeps "a" and b"a" apart).
inline std::uint64_t hash_text(Tag tag, std::string_view text) {
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t hash = fold(left, static_cast<std::uint64_t>(tag));
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    hash = fold(hash, word);
  }
  if (left > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, left);
    hash = fold(hash, word);
  }
  return hash;
}

inline std::uint64_t hash_int(std::int64_t value) {
  return fold(static_cast<std::uint64_t>(value), 0x1f3);
}

/// Hash of things that are equal only to themselves.
inline std::uint64_t hash_identity(const Value& value) {
  return fold(offset_of(value), static_cast<std::uint64_t>(value.tag()) + 0x700);
}

}  // namespace cachetool::pickle
