#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace cachetool::torch {

/// A name that torch makes from a SHA-256: one prefix letter ('f' FX graph key, 'a' AOTAutograd key, 'c' code
/// hash, or none for a leaf) and the first 51 characters of lower-case base32 (255 of the 256 bits, so the
/// last bit is zero here). 33 bytes, trivially copyable. Follows torch/_inductor/codecache.py: sha256_hash,
/// code_hash (2.6).
struct HashName {
  char prefix = '\0';
  Sha256Digest digest{};

  /// Accepts exactly 51 base32 characters, with one of "fac" in front or nothing.
  static std::optional<HashName> parse(std::string_view text);
  /// Empty for a name that was never set.
  std::string str() const;

  friend bool operator==(const HashName&, const HashName&) = default;
  friend auto operator<=>(const HashName&, const HashName&) = default;
};

/// B(bytes): the leaf name of an entry file with these contents. torch/_inductor/codecache.py: sha256_hash.
HashName content_hash(std::string_view bytes);

/// 'c' + B(code) or 'c' + B(code + "||" + extra). torch/_inductor/codecache.py: code_hash.
HashName code_hash(std::string_view code, std::string_view extra = {});

/// 'c' + B(everything that went into `stream`): the same from a text that was hashed in pieces.
HashName code_hash(Sha256Stream stream);

/// Python's str.strip() on UTF-8 text: trims every code point that Python calls white space, at both ends.
std::string_view python_strip(std::string_view text);

}  // namespace cachetool::torch
