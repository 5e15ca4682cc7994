#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "container/frame.h"

/// Writes what torch's BytesWriter writes.
namespace frame_tests {

inline void append_number(std::string& out, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
}

inline void append_bytes(std::string& out, std::string_view bytes) {
  append_number(out, bytes.size());
  out += bytes;
}

inline void append_text(std::string& out, std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string encoded;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      encoded += i + k > text.size() ? '=' : kAlphabet[bits >> (18 - 6 * k) & 63U];
  }
  append_bytes(out, encoded);
}

inline std::string with_crc(const std::string& body) {
  const std::uint32_t crc = cachetool::container::crc32(body);
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>(crc >> shift & 0xff);
  return frame + body;
}

struct Group {
  std::string type;
  std::vector<std::pair<std::string, std::string>> items;
};

inline std::string mega_cache(const std::vector<Group>& groups) {
  std::string body;
  append_number(body, 1);
  for (const Group& group : groups) {
    append_text(body, group.type);
    append_number(body, group.items.size());
    for (const auto& [key, content] : group.items) {
      append_text(body, key);
      append_bytes(body, content);
    }
  }
  return with_crc(body);
}

inline std::string standalone(std::string_view torch_key, std::string_view aot_key, std::string_view mega) {
  std::string body;
  append_bytes(body, "CacheCompiledArtifact");
  append_bytes(body, torch_key);
  append_text(body, aot_key);
  append_bytes(body, mega);
  return with_crc(body);
}

}  // namespace frame_tests
