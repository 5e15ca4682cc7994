#include <optional>

#include <fmt/format.h>

#include "base/utf8.h"
#include "container/python_literal.h"

namespace cachetool::container {
namespace {

struct Opening {
  bool raw = false;
  bool bytes = false;
  char quote = '"';
  bool triple = false;
  std::size_t body = 0;  // position behind the opening quotes
};

std::optional<Opening> read_opening(std::string_view source, std::size_t position) {
  Opening opening;
  bool unicode = false;
  std::size_t at = position;
  for (; at < source.size() && at < position + 3; ++at) {
    const char c = source[at];
    if (c == '\'' || c == '"') break;
    if ((c == 'r' || c == 'R') && !opening.raw && !unicode) {
      opening.raw = true;
    } else if ((c == 'b' || c == 'B') && !opening.bytes && !unicode) {
      opening.bytes = true;
    } else if ((c == 'u' || c == 'U') && at == position) {
      unicode = true;
    } else {
      return {};
    }
  }
  if (at >= source.size() || (source[at] != '\'' && source[at] != '"')) return {};
  opening.quote = source[at];
  const std::string_view rest = source.substr(at);
  opening.triple = rest.size() >= 3 && rest[1] == opening.quote && rest[2] == opening.quote;
  opening.body = at + (opening.triple ? 3 : 1);
  return opening;
}

class Decoder {
 public:
  Decoder(std::string_view source, const Opening& opening)
      : source_(source), opening_(opening), at_(opening.body) {
    result_.is_bytes = opening.bytes;
  }

  Expected<PythonString> decode() {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == opening_.quote && closes()) {
        result_.end = at_ + (opening_.triple ? 3 : 1);
        return std::move(result_);
      }
      if (c == '\\') {
        if (auto done = escape(); !done) return tl::unexpected<Error>(done.error());
      } else if (c == '\n' || c == '\r') {
        if (!opening_.triple)
          return fail(ErrorCode::kMalformed, "a line end inside a string literal", {}, at_);
        line_end();
      } else if (c == '\0') {
        return fail(ErrorCode::kMalformed, "a NUL inside Python source", {}, at_);
      } else if (opening_.bytes && static_cast<unsigned char>(c) >= 0x80) {
        return fail(ErrorCode::kMalformed, "a character beyond ASCII in a bytes literal", {}, at_);
      } else {
        result_.text.push_back(c);
        ++at_;
      }
    }
    return fail(ErrorCode::kTruncated, "a string literal without an end", {}, opening_.body);
  }

 private:
  bool closes() const {
    if (!opening_.triple) return true;
    return source_.substr(at_).starts_with(opening_.quote == '"' ? "\"\"\"" : "'''");
  }

  /// Any line end becomes "\n", as CPython's tokenizer does it.
  void line_end() {
    if (source_.substr(at_).starts_with("\r\n")) ++at_;
    ++at_;
    result_.text.push_back('\n');
  }

  Status escape() {
    const std::size_t start = at_++;
    if (at_ >= source_.size()) return {};
    const char c = source_[at_];
    if (opening_.raw) {
      result_.text.push_back('\\');
      if (c == '\n' || c == '\r') {
        line_end();
      } else if (c == '\\' || c == '\'' || c == '"') {
        result_.text.push_back(c);
        ++at_;
      }
      return {};
    }
    if (c == '\n' || c == '\r') {  // a continued line adds nothing
      line_end();
      result_.text.pop_back();
      return {};
    }
    constexpr std::string_view kNames = "\\'\"abfnrtv";
    constexpr std::string_view kValues = "\\'\"\a\b\f\n\r\t\v";
    if (const std::size_t found = kNames.find(c); found != std::string_view::npos) {
      result_.text.push_back(kValues[found]);
      ++at_;
      return {};
    }
    if (c >= '0' && c <= '7') {
      std::uint32_t code = 0;
      for (int digits = 0; digits < 3 && at_ < source_.size() && source_[at_] >= '0' && source_[at_] <= '7';
           ++digits) {
        code = code * 8 + static_cast<std::uint32_t>(source_[at_++] - '0');
      }
      put(opening_.bytes ? code & 0xff : code);
      return {};
    }
    if (c == 'x') return hexadecimal(start, 2);
    if (c == 'u' && !opening_.bytes) return hexadecimal(start, 4);
    if (c == 'U' && !opening_.bytes) return hexadecimal(start, 8);
    if (c == 'N' && !opening_.bytes) {
      return fail(ErrorCode::kUnsupported, "a character given by its Unicode name", {}, start);
    }
    result_.text.push_back('\\');  // an unknown escape stands for itself
    return {};
  }

  Status hexadecimal(std::size_t start, int digits) {
    ++at_;
    std::uint32_t code = 0;
    for (int i = 0; i < digits; ++i) {
      const int digit = at_ < source_.size() ? hex_digit(source_[at_]) : -1;
      if (digit < 0) return fail(ErrorCode::kMalformed, "an escape with too few digits", {}, start);
      code = code * 16 + static_cast<std::uint32_t>(digit);
      ++at_;
    }
    if (code > 0x10ffff) return fail(ErrorCode::kMalformed, "an escape beyond Unicode", {}, start);
    put(code);
    return {};
  }

  void put(std::uint32_t code) {
    if (opening_.bytes) {
      result_.text.push_back(static_cast<char>(code));
    } else {
      append_utf8(result_.text, code);
    }
  }

  std::string_view source_;
  Opening opening_;
  std::size_t at_;
  PythonString result_;
};

}  // namespace

bool starts_python_string(std::string_view source, std::size_t position) {
  return read_opening(source, position).has_value();
}

Expected<PythonString> read_python_string(std::string_view source, std::size_t position) {
  const auto opening = read_opening(source, position);
  if (!opening) return fail(ErrorCode::kMalformed, "no string literal here", {}, position);
  return Decoder(source, *opening).decode();
}

}  // namespace cachetool::container
