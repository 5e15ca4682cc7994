#include "base/utf8.h"

namespace cachetool {
namespace {

struct LeadByte {
  std::uint8_t length;  // 0: can't start a sequence
  char32_t bits;
  char32_t smallest;  // anything below is an overlong form
};

LeadByte classify(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if (byte < 0xc2) return {0, 0, 0};
  if (byte < 0xe0) return {2, byte & 0x1fU, 0x80};
  if (byte < 0xf0) return {3, byte & 0x0fU, 0x800};
  if (byte < 0xf5) return {4, byte & 0x07U, 0x10000};
  return {0, 0, 0};
}

}  // namespace

CodePoint decode_utf8(std::string_view text, std::size_t position, Surrogates surrogates) {
  const auto first = static_cast<unsigned char>(text[position]);
  const CodePoint invalid{first, 1, false};
  const LeadByte lead = classify(first);
  if (lead.length == 0 || lead.length > text.size() - position) return invalid;

  char32_t value = lead.bits;
  for (std::size_t i = 1; i < lead.length; ++i) {
    const auto byte = static_cast<unsigned char>(text[position + i]);
    if ((byte & 0xc0U) != 0x80U) return invalid;
    value = (value << 6) | (byte & 0x3fU);
  }
  if (value < lead.smallest || value > 0x10ffff) return invalid;
  if (value >= 0xd800 && value <= 0xdfff && surrogates == Surrogates::kRejected) return invalid;
  return {value, lead.length, true};
}

char* put_utf8(char* out, char32_t code_point) {
  const auto put = [&](char32_t byte) { *out++ = static_cast<char>(static_cast<unsigned char>(byte)); };
  const auto put_tail = [&](unsigned shift) { put(0x80U | ((code_point >> shift) & 0x3fU)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xc0U | (code_point >> 6));
    put_tail(0);
  } else if (code_point < 0x10000) {
    put(0xe0U | (code_point >> 12));
    put_tail(6);
    put_tail(0);
  } else {
    put(0xf0U | (code_point >> 18));
    put_tail(12);
    put_tail(6);
    put_tail(0);
  }
  return out;
}

void append_utf8(std::string& text, char32_t code_point) {
  char bytes[4];
  text.append(bytes, put_utf8(bytes, code_point));
}

}  // namespace cachetool
