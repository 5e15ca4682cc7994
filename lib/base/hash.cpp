#include "base/hash.h"

#include <openssl/evp.h>

#include <cstdlib>

#include "base/text.h"

namespace cachetool {
namespace {

/// SHA-256 is in every build of libcrypto, so a failure here is a broken installation, not an input.
void require(bool ok) {
  if (!ok) std::abort();
}

/// Looked up once: an implicit lookup per digest costs more than hashing a small file.
const EVP_MD* algorithm() {
  static const EVP_MD* const md = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  require(md != nullptr);
  return md;
}

constexpr char kAlphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

int base32_value(char c) {
  if (c >= 'a' && c <= 'z') return c - 'a';
  if (c >= '2' && c <= '7') return c - '2' + 26;
  return -1;
}

}  // namespace

struct Sha256Stream::Impl {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  Impl() { require(context != nullptr && EVP_DigestInit_ex(context, algorithm(), nullptr) == 1); }
  ~Impl() { EVP_MD_CTX_free(context); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
};

Sha256Stream::Sha256Stream() : impl_(std::make_unique<Impl>()) {}
Sha256Stream::~Sha256Stream() = default;
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;

void Sha256Stream::update(std::string_view bytes) {
  require(EVP_DigestUpdate(impl_->context, bytes.data(), bytes.size()) == 1);
}

Sha256Stream Sha256Stream::fork() const {
  Sha256Stream copy;
  require(EVP_MD_CTX_copy_ex(copy.impl_->context, impl_->context) == 1);
  return copy;
}

Sha256Digest Sha256Stream::finish() {
  Sha256Digest digest;
  unsigned int length = 0;
  require(EVP_DigestFinal_ex(impl_->context, digest.data(), &length) == 1 && length == digest.size());
  return digest;
}

Sha256Digest sha256(std::string_view bytes) {
  Sha256Stream stream;
  stream.update(bytes);
  return stream.finish();
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xf];
  }
  return text;
}

std::string from_hex(std::string_view hex) {
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    const int high = hex_digit(hex[i]);
    const int low = hex_digit(hex[i + 1]);
    if (high < 0 || low < 0) break;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

std::string to_base32(std::span<const std::uint8_t> bytes) {
  std::string text;
  text.reserve((bytes.size() * 8 + 4) / 5);
  std::uint32_t pending = 0;
  unsigned bits = 0;
  for (const std::uint8_t byte : bytes) {
    pending = (pending << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += kAlphabet[(pending >> (bits - 5)) & 31U];
    pending &= (1U << bits) - 1;
  }
  if (bits > 0) text += kAlphabet[(pending << (5 - bits)) & 31U];
  return text;
}

bool from_base32(std::string_view text, std::span<std::uint8_t> out) {
  if (out.size() != text.size() * 5 / 8) return false;
  std::uint32_t pending = 0;
  unsigned bits = 0;
  std::size_t filled = 0;
  for (const char c : text) {
    const int value = base32_value(c);
    if (value < 0) return false;
    pending = (pending << 5) | static_cast<std::uint32_t>(value);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      out[filled++] = static_cast<std::uint8_t>(pending >> bits);
      pending &= (1U << bits) - 1;
    }
  }
  return pending == 0;
}

}  // namespace cachetool
