#include "verify/triton_name.h"

#include <algorithm>

#include "base/hash.h"
#include "store/classify.h"

namespace cachetool::verify {
namespace {

std::string url_safe_base64(std::string_view bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    for (held += 8; held >= 6; held -= 6) text += kAlphabet[bits >> (held - 6) & 63];
  }
  if (held > 0) text += kAlphabet[bits << (6 - held) & 63];
  return text;
}

}  // namespace

std::vector<std::string> triton_directory_names(std::string_view hash) {
  if (!store::is_hex(hash, 64)) return {};
  const std::string bytes = from_hex(hash);
  std::string base32 = to_base32({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  std::transform(base32.begin(), base32.end(), base32.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return {std::move(base32), url_safe_base64(bytes), std::string(hash)};
}

}  // namespace cachetool::verify
