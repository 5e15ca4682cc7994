#include "report/json_path.h"

#include <charconv>

#include "base/json_writer.h"
#include "base/utf8.h"

namespace cachetool::report {
namespace {

// What stands between the quotes when a JsonWriter writes `text`.
std::string escaped_key(std::string_view text) {
  StringSink sink;
  {
    JsonWriter json(sink);
    json.string(text);
    json.flush();
  }
  const std::string quoted = sink.take();
  return quoted.substr(1, quoted.size() - 2);
}

tl::unexpected<Error> bad_path(std::string_view text) {
  return fail(ErrorCode::kUsage, "\"" + std::string(text) + "\" is no path to a field", {}, {},
              "write names joined by dots, [0] for elements and [\"name\"] for keys of another form");
}

// Four hex digits at `at`, or a value out of range.
std::uint32_t hex4(std::string_view text, std::size_t at) {
  std::uint32_t unit = 0x110000;
  if (at + 4 <= text.size()) std::from_chars(text.data() + at, text.data() + at + 4, unit, 16);
  return unit;
}

}  // namespace

Expected<JsonPath> JsonPath::parse(std::string_view text) {
  JsonPath path;
  std::string_view rest = text;
  bool after_dot = true;
  while (!rest.empty()) {
    if (rest.front() == '[') {
      const bool quoted = rest.size() > 1 && rest[1] == '"';
      const std::size_t end = quoted ? rest.find("\"]", 2) : rest.find(']');
      if (end == std::string_view::npos || (after_dot && !path.steps_.empty())) return bad_path(text);
      Step step;
      if (quoted) {
        step.key = escaped_key(rest.substr(2, end - 2));
      } else {
        const std::string_view digits = rest.substr(1, end - 1);
        const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step.index);
        if (error != std::errc() || stop != digits.data() + digits.size()) return bad_path(text);
        step.is_index = true;
      }
      path.steps_.push_back(std::move(step));
      rest.remove_prefix(end + (quoted ? 2 : 1));
    } else {
      if (!after_dot) return bad_path(text);
      const std::string_view name = rest.substr(0, rest.find_first_of(".["));
      if (name.empty()) return bad_path(text);
      Step step;
      step.key = escaped_key(name);
      path.steps_.push_back(std::move(step));
      rest.remove_prefix(name.size());
    }
    after_dot = !rest.empty() && rest.front() == '.';
    if (after_dot) rest.remove_prefix(1);
  }
  if (path.steps_.empty() || after_dot) return bad_path(text);
  return path;
}

void JsonPathSink::write(std::string_view bytes) {
  for (const char c : bytes) take(c);
}

bool JsonPathSink::step_matches(const Level& level) const {
  if (level.steps >= path_.steps().size()) return false;
  const JsonPath::Step& step = path_.steps()[level.steps];
  if (step.is_index) return !level.is_object && level.index == step.index;
  return level.is_object && key_ == step.key;
}

// Called before the first character of a value.
void JsonPathSink::begin_value() {
  next_on_path_ = false;
  if (levels_.empty()) {
    next_on_path_ = true;
    next_steps_ = 0;
  } else if (levels_.back().on_path) {
    const Level& level = levels_.back();
    next_steps_ = level.steps;
    if (step_matches(level)) {
      next_on_path_ = true;
      ++next_steps_;
    } else if (level.is_object && key_ == "$tensor") {
      next_on_path_ = true;
    }
  }
  if (!capturing_ && !found_ && next_on_path_ && next_steps_ == path_.steps().size()) {
    capturing_ = true;
    found_ = true;
    capture_depth_ = levels_.size();
  }
}

// Called behind the last character of a value.
void JsonPathSink::end_value() {
  if (capturing_ && levels_.size() == capture_depth_) capturing_ = false;
}

void JsonPathSink::take(char c) {
  if (in_string_) {
    if (capturing_) value_ += c;
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
      if (string_is_key_) {
        key_ = token_;
      } else {
        end_value();
      }
      return;
    }
    if (string_is_key_) token_ += c;
    return;
  }
  const bool structural = c == ',' || c == ':' || c == '}' || c == ']' || c == ' ' || c == '\n';
  if (in_scalar_ && structural) {
    in_scalar_ = false;
    end_value();
  }
  if (c == '}' || c == ']') {
    if (capturing_) value_ += c;
    levels_.pop_back();
    expect_key_ = false;
    return end_value();
  }
  if (structural) {
    if (capturing_) value_ += c;
    if (c == ',' && !levels_.empty()) {
      ++levels_.back().index;
      expect_key_ = levels_.back().is_object;
    }
    return;
  }
  if (in_scalar_) {
    if (capturing_) value_ += c;
    return;
  }
  if (c == '"') {
    in_string_ = true;
    string_is_key_ = expect_key_;
    expect_key_ = false;
    token_.clear();
    if (!string_is_key_) begin_value();
    if (capturing_) value_ += c;
    return;
  }
  begin_value();
  if (capturing_) value_ += c;
  if (c == '{' || c == '[') {
    levels_.push_back({c == '{', next_on_path_, 0, next_steps_});
    expect_key_ = c == '{';
  } else {
    in_scalar_ = true;
  }
}

std::string json_to_text(std::string_view json) {
  if (json.size() < 2 || json.front() != '"') return std::string(json);
  std::string text;
  const std::string_view body = json.substr(1, json.size() - 2);
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\' || i + 1 >= body.size()) {
      text += body[i];
      continue;
    }
    const char c = body[++i];
    constexpr std::string_view kShort = "bfnrt";
    constexpr std::string_view kMeaning = "\b\f\n\r\t";
    if (c != 'u') {
      const std::size_t at = kShort.find(c);
      text += at == std::string_view::npos ? c : kMeaning[at];
      continue;
    }
    std::uint32_t point = hex4(body, i + 1);
    i += 4;
    const bool high = point >= 0xd800 && point < 0xdc00;
    if (high && body.substr(i + 1).starts_with("\\u")) {
      const std::uint32_t low = hex4(body, i + 3);
      if (low >= 0xdc00 && low < 0xe000) {
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
        i += 6;
      }
    }
    append_utf8(text, point);
  }
  return text;
}

}  // namespace cachetool::report
