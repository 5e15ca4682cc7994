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

void append_utf8(std::string& text, char32_t code_point) {
  const auto byte = [](char32_t value) { return static_cast<char>(static_cast<unsigned char>(value)); };
  if (code_point < 0x80) {
    text += byte(code_point);
  } else if (code_point < 0x800) {
    text += byte(0xc0U | (code_point >> 6));
    text += byte(0x80U | (code_point & 0x3fU));
  } else if (code_point < 0x10000) {
    text += byte(0xe0U | (code_point >> 12));
    text += byte(0x80U | ((code_point >> 6) & 0x3fU));
    text += byte(0x80U | (code_point & 0x3fU));
  } else {
    text += byte(0xf0U | (code_point >> 18));
    text += byte(0x80U | ((code_point >> 12) & 0x3fU));
    text += byte(0x80U | ((code_point >> 6) & 0x3fU));
    text += byte(0x80U | (code_point & 0x3fU));
  }
}

}  // namespace cachetool
