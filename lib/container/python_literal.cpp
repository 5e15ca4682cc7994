#include "container/python_literal.h"

#include <charconv>

#include <fmt/format.h>

#include "base/text.h"

namespace cachetool::container {
namespace {

bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// A pushdown automaton: `comma_` and the builder's open containers are all its state.
class Parser {
 public:
  Parser(std::string_view source, const TreeLimits& limits) : source_(source), builder_(limits) {}

  Expected<Tree> parse() {
    bool done = false;
    while (true) {
      skip_blanks();
      if (at_ >= source_.size()) break;
      if (done) return malformed("something behind the value");
      if (auto step = wants_value() ? value() : separator(); !step)
        return tl::unexpected<Error>(step.error());
      done = !builder_.has_open();
    }
    if (!done) return fail(ErrorCode::kTruncated, "the literal ends too early", {}, source_.size());
    return builder_.take();
  }

 private:
  tl::unexpected<Error> malformed(std::string message) const {
    return fail(ErrorCode::kMalformed, std::move(message), {}, at_);
  }

  Status limited(bool added) const {
    if (added) return {};
    Error error = *builder_.error();
    error.offset = at_;
    return tl::unexpected<Error>(std::move(error));
  }

  void skip_blanks() {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '#') {
        while (at_ < source_.size() && source_[at_] != '\n' && source_[at_] != '\r') ++at_;
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
        ++at_;
      } else {
        return;
      }
    }
  }

  /// A value (or a closing bracket) may stand here: at the start and behind an opening bracket, comma or
  /// colon.
  bool wants_value() const { return !builder_.has_open() || builder_.children() == 0 || separated_; }

  Status value() {
    const char c = source_[at_];
    if (c == '{' || c == '[' || c == '(') {
      auto opened = limited(builder_.open(c == '{'   ? NodeKind::kMap
                                          : c == '[' ? NodeKind::kList
                                                     : NodeKind::kTuple));
      ++at_;
      separated_ = false;
      behind_colon_ = false;
      return opened;
    }
    if ((c == '}' || c == ']' || c == ')') && builder_.has_open() && !behind_colon_) return close(c);
    separated_ = false;
    behind_colon_ = false;
    if (starts_python_string(source_, at_)) return strings();
    if (is_digit(c) || c == '-' || c == '+' || c == '.') return number();
    return word();
  }

  /// What may follow a value inside a container: comma, colon, closing bracket.
  Status separator() {
    const char c = source_[at_];
    const bool behind_key = builder_.innermost() == NodeKind::kMap && builder_.children() % 2 == 1;
    if (behind_key) {
      if (c != ':') return malformed("a key without a colon");
      behind_colon_ = true;
    } else if (c == '}' || c == ']' || c == ')') {
      return close(c);
    } else if (c != ',') {
      return malformed("expected a comma or a closing bracket");
    }
    separated_ = true;
    ++at_;
    return {};
  }

  Status close(char c) {
    const NodeKind kind = builder_.innermost();
    const char wanted = kind == NodeKind::kMap ? '}' : kind == NodeKind::kList ? ']' : ')';
    if (c != wanted) return malformed(fmt::format("expected {}", wanted));
    const bool group = kind == NodeKind::kTuple && builder_.children() == 1 && !separated_;
    separated_ = false;
    ++at_;
    return limited(group ? builder_.unwrap() : builder_.close());
  }

  Status strings() {
    PythonString joined;
    bool first = true;
    while (first || (at_ < source_.size() && starts_python_string(source_, at_))) {
      auto part = read_python_string(source_, at_);
      if (!part) return tl::unexpected<Error>(part.error());
      if (!first && part->is_bytes != joined.is_bytes) return malformed("bytes beside text");
      joined.is_bytes = part->is_bytes;
      joined.text += part->text;
      at_ = part->end;
      first = false;
      skip_blanks();
    }
    return limited(builder_.text(joined.is_bytes ? NodeKind::kBytes : NodeKind::kString, joined.text));
  }

  Status number() {
    const std::size_t start = at_;
    std::string digits;
    if (source_[at_] == '-' || source_[at_] == '+') {
      if (source_[at_] == '-') digits = "-";
      ++at_;
      skip_blanks();
    }
    const std::size_t first = digits.size();
    bool real = false;
    for (; at_ < source_.size(); ++at_) {
      const char c = source_[at_];
      const bool sign =
          (c == '+' || c == '-') && !digits.empty() && (digits.back() == 'e' || digits.back() == 'E');
      if (c == '_' && at_ > start && is_digit(source_[at_ - 1])) continue;
      if (!is_word(c) && c != '.' && !sign) break;
      real = real || c == '.' || c == 'e' || c == 'E';
      digits.push_back(c);
    }
    const std::string_view text(digits);
    const std::string_view plain = text.substr(first);
    const bool zero = plain.find_first_not_of('0') == std::string_view::npos;
    const char* end = digits.data() + digits.size();
    if (plain.empty() || source_[at_ - 1] == '_') return bad_number(start);
    if (real) {
      double parsed = 0;
      const auto result = std::from_chars(digits.data(), end, parsed);
      const bool ends = result.ptr == end && result.ec != std::errc::invalid_argument;
      if (!ends || !(is_digit(plain[0]) || plain[0] == '.')) return bad_number(start);
      return limited(builder_.text(NodeKind::kFloat, text));
    }
    if (plain.find_first_not_of("0123456789") != std::string_view::npos) return bad_number(start);
    if (plain[0] == '0' && !zero) return bad_number(start);
    std::int64_t parsed = 0;
    if (std::from_chars(digits.data(), end, parsed).ec == std::errc{})
      return limited(builder_.integer(parsed));
    return limited(builder_.text(NodeKind::kBigInteger, text));
  }

  Status bad_number(std::size_t start) {
    at_ = start;
    return malformed("not a decimal number");
  }

  Status word() {
    std::size_t end = at_;
    while (end < source_.size() && is_word(source_[end])) ++end;
    const std::string_view name = source_.substr(at_, end - at_);
    if (name != "None" && name != "True" && name != "False") return malformed("no literal starts so");
    auto added = limited(name == "None" ? builder_.null() : builder_.boolean(name == "True"));
    at_ = end;
    return added;
  }

  std::string_view source_;
  TreeBuilder builder_;
  std::size_t at_ = 0;
  bool separated_ = false;     // the last token was a comma or a colon
  bool behind_colon_ = false;  // it was a colon: a value must follow
};

}  // namespace

Expected<Tree> read_python_literal(std::string_view text, const TreeLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return fail(ErrorCode::kLimitSize, fmt::format("Python text of more than {} bytes", limits.max_bytes));
  }
  return Parser(text, limits).parse();
}

}  // namespace cachetool::container
