#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace cachetool {

/// 32 bytes of SHA-256.
using Sha256Digest = std::array<std::uint8_t, 32>;

/// SHA-256 of `bytes` (OpenSSL libcrypto).
Sha256Digest sha256(std::string_view bytes);

/// SHA-256 of bytes that arrive in pieces.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;
  void update(std::string_view bytes);
  /// Another stream that goes on from here.
  Sha256Stream fork() const;
  /// The digest of everything so far; the stream can't be used afterwards.
  Sha256Digest finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Lower-case hexadecimal.
std::string to_hex(std::span<const std::uint8_t> bytes);

/// The bytes that hexadecimal of either case stands for. Of a text that isn't pairs of such digits: what
/// precedes the first that isn't.
std::string from_hex(std::string_view hex);

/// RFC 4648 base32 in lower case without padding (alphabet a-z2-7).
std::string to_base32(std::span<const std::uint8_t> bytes);

/// RFC 4648 base32 in lower case back to bytes; false on any other character or on non-zero spare bits.
/// Fills `out` with text.size() * 5 / 8 bytes.
bool from_base32(std::string_view text, std::span<std::uint8_t> out);

}  // namespace cachetool
