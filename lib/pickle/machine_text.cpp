// Scalars of the text protocol: an argument is a line.

#include <fmt/format.h>

#include <cstring>

#include "pickle/machine.h"
#include "pickle/numbers.h"
#include "pickle/text_escape.h"
#include "pickle/text_number.h"

namespace cachetool::pickle {

/// Reads up to the next newline, which isn't part of `line`, and moves `at` behind it.
bool Machine::read_line(Position& at, std::string_view& line) {
  const auto* newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end_ - at)));
  if (newline == nullptr) return truncated() != nullptr;
  line = {at, static_cast<std::size_t>(newline - at)};
  if (!available(at, line.size() + 1)) return truncated() != nullptr;
  at = newline + 1;
  return true;
}

/// INT also carries the booleans of protocols 0 and 1, as "00" and "01"; CPython takes any line of two
/// characters that means 0 or 1.
Machine::Position Machine::text_int(Position at) {
  std::string_view line;
  if (!read_line(at, line)) return nullptr;
  if (line.empty()) return malformed("the line is empty");
  if (const auto value = parse_c_long(line)) {
    if (line.size() == 2 && (*value == 0 || *value == 1)) return push(Value::boolean(*value == 1), at);
    return push(Value::integer(*value), at);
  }
  return push_text_integer(line, at);
}

Machine::Position Machine::text_long(Position at) {
  std::string_view line;
  if (!read_line(at, line)) return nullptr;
  if (line.empty()) return malformed("the line is empty");
  if (line.back() == 'L') line.remove_suffix(1);
  return push_text_integer(line, at);
}

Machine::Position Machine::push_text_integer(std::string_view line, Position at) {
  if (!account_.charge(line.size() * 2)) return no_memory();
  const auto parsed = parse_python_int(line, 0);
  account_.release(line.size() * 2);
  if (!parsed) return malformed("the line is not an integer");
  const std::string_view bytes = trim_integer(*parsed);
  if (bytes.size() <= 8) return push(Value::integer(small_integer(bytes)), at);
  void* memory = arena_.take(bytes.size());
  if (memory == nullptr) return no_memory();
  std::memcpy(memory, bytes.data(), bytes.size());
  return push(Value::text(Tag::kBigInt, {static_cast<const char*>(memory), bytes.size()}), at);
}

Machine::Position Machine::text_float(Position at) {
  std::string_view line;
  if (!read_line(at, line)) return nullptr;
  if (line.empty()) return malformed("the line is empty");
  const auto value = parse_python_float(line);
  if (!value) return malformed("the line is not a float");
  return push(Value::real(*value), at);
}

Machine::Position Machine::text_string(Position at) {
  std::string_view line;
  if (!read_line(at, line)) return nullptr;
  const bool quoted = line.size() >= 2 && line.front() == line.back() && (line[0] == '\'' || line[0] == '"');
  if (!quoted) return malformed("the line is not quoted");
  line = line.substr(1, line.size() - 2);
  if (line.find('\\') == std::string_view::npos) {
    return push_ascii(line.data(), line.size()) == nullptr ? nullptr : at;
  }
  auto* decoded = static_cast<char*>(arena_.take(line.size()));  // escapes only shrink
  if (decoded == nullptr) return no_memory();
  const auto size = decode_string_escapes(line, decoded);
  if (!size) return malformed("an escape sequence is not complete");
  const std::string_view text(decoded, *size);
  for (const char c : text) {
    if ((c & '\x80') != 0) return malformed("the string is not ASCII");
  }
  return push(Value::text(Tag::kString, text), at);
}

Machine::Position Machine::text_unicode(Position at) {
  std::string_view line;
  if (!read_line(at, line)) return nullptr;
  std::size_t longest = 0;
  for (const char c : line) longest += (c & '\x80') != 0 ? 2 : 1;
  if (longest == line.size() && line.find('\\') == std::string_view::npos) {
    return push(Value::text(Tag::kString, line), at);
  }
  auto* decoded = static_cast<char*>(arena_.take(longest));  // \uXXXX takes at most 3 bytes, \UXXXXXXXX 4
  if (decoded == nullptr) return no_memory();
  const auto size = decode_unicode_escapes(line, decoded);
  if (!size) return malformed("an escape sequence is not a code point");
  return push(Value::text(Tag::kString, {decoded, *size}), at);
}

bool Machine::parse_index(std::string_view line, std::int64_t& index) {
  if (line.empty()) return malformed("the line is empty") != nullptr;
  const auto parsed = line.size() > 5000 ? std::nullopt : parse_python_int(line, 10);
  if (!parsed) return malformed("the line is not an integer") != nullptr;
  const std::string_view bytes = trim_integer(*parsed);
  if (bytes.size() > 8) return malformed("the index does not fit in 64 bits") != nullptr;
  index = small_integer(bytes);
  return true;
}

Machine::Position Machine::text_get(Position at) {
  std::string_view line;
  std::int64_t index = 0;
  if (!read_line(at, line) || !parse_index(line, index)) return nullptr;
  return get(static_cast<std::uint64_t>(index), at);  // a negative index becomes one that nothing has
}

Machine::Position Machine::text_put(Position at) {
  std::string_view line;
  std::int64_t index = 0;
  if (!read_line(at, line) || !parse_index(line, index)) return nullptr;
  if (index < 0) return malformed("the index is negative");
  return memoize(static_cast<std::uint64_t>(index), at);
}

}  // namespace cachetool::pickle
