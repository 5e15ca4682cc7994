#include "base/json_writer.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <iterator>

#include "base/text.h"
#include "base/utf8.h"

namespace cachetool {
namespace {

constexpr std::size_t kFlushAt = std::size_t{64} << 10;

void append_unit(std::string& out, std::uint32_t unit) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[(unit >> shift) & 0xf];
}

void append_code_point(std::string& out, char32_t c) {
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    default:
      break;
  }
  if (c < 0x10000) {
    append_unit(out, static_cast<std::uint32_t>(c));
  } else {
    const auto offset = static_cast<std::uint32_t>(c) - 0x10000;
    append_unit(out, 0xd800 | (offset >> 10));
    append_unit(out, 0xdc00 | (offset & 0x3ff));
  }
}

/// Written as it is: printable ASCII other than the two that JSON needs escaped.
bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t position = 0; position < text.size();) {
    std::size_t end = position;
    while (end < text.size() && is_plain(text[end])) ++end;
    out.append(text, position, end - position);
    position = end;
    if (position == text.size()) break;
    const CodePoint code_point = decode_utf8(text, position, Surrogates::kAllowed);
    append_code_point(out, code_point.valid ? code_point.value : 0xdc00U + code_point.value);
    position += code_point.length;
  }
  out += '"';
}

JsonWriter::JsonWriter(OutputSink& sink, JsonStyle style) : sink_(sink), style_(style) {}

JsonWriter::~JsonWriter() {
  assert(stack_.empty() && !after_key_);
  flush();
}

void JsonWriter::begin_object() {
  before_value();
  buffer_ += '{';
  stack_.push_back({true, true});
}

void JsonWriter::end_object() {
  assert(!stack_.empty() && stack_.back().is_object);
  close('}');
}

void JsonWriter::begin_array() {
  before_value();
  buffer_ += '[';
  stack_.push_back({false, true});
}

void JsonWriter::end_array() {
  assert(!stack_.empty() && !stack_.back().is_object);
  close(']');
}

void JsonWriter::key(std::string_view name) {
  assert(!stack_.empty() && stack_.back().is_object && !after_key_);
  separate();
  append_json_string(buffer_, name);
  buffer_ += ": ";
  after_key_ = true;
}

void JsonWriter::null() {
  raw("null");
}
void JsonWriter::boolean(bool value) {
  raw(value ? "true" : "false");
}

void JsonWriter::integer(std::int64_t value) {
  before_value();
  fmt::format_to(std::back_inserter(buffer_), "{}", value);
}

void JsonWriter::unsigned_integer(std::uint64_t value) {
  before_value();
  fmt::format_to(std::back_inserter(buffer_), "{}", value);
}

void JsonWriter::number(double value) {
  if (std::isfinite(value)) {
    raw(python_float_repr(value));
  } else {
    begin_object();
    member("$float", python_float_repr(value));
    end_object();
  }
}

void JsonWriter::string(std::string_view value) {
  before_value();
  append_json_string(buffer_, value);
}

void JsonWriter::raw(std::string_view json) {
  before_value();
  buffer_ += json;
}

void JsonWriter::flush() {
  if (!buffer_.empty()) sink_.write(buffer_);
  buffer_.clear();
}

void JsonWriter::before_value() {
  if (buffer_.size() >= kFlushAt) flush();
  if (after_key_) {
    after_key_ = false;
  } else if (stack_.empty()) {
    assert(!begun_);
    begun_ = true;
  } else {
    assert(!stack_.back().is_object);
    separate();
  }
}

void JsonWriter::separate() {
  Level& level = stack_.back();
  if (!level.empty) buffer_ += style_ == JsonStyle::kCompact ? ", " : ",";
  level.empty = false;
  newline();
}

void JsonWriter::newline() {
  if (style_ == JsonStyle::kCompact) return;
  buffer_ += '\n';
  buffer_.append(stack_.size() * 2, ' ');
}

void JsonWriter::close(char bracket) {
  assert(!after_key_);
  const bool empty = stack_.back().empty;
  stack_.pop_back();
  if (!empty) newline();
  buffer_ += bracket;
}

}  // namespace cachetool
