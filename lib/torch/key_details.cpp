#include "torch/key_details.h"

#include "torch/entry_readers.h"

namespace cachetool::torch {

namespace {

constexpr std::size_t kHashLength = 51;
constexpr std::string_view kConfigPrefix = "inductor_config[";

/// The path alone, which is all that a search needs to look at; empty when the line has another form.
std::string_view path_of(std::string_view line) {
  const auto component = parse_key_line(line);
  return component ? component->path : std::string_view{};
}

}  // namespace

std::optional<KeyComponent> parse_key_line(std::string_view line) {
  // "[" hash "] " path ": " text. A path ends at the first ": " that stands outside brackets: dict keys go
  // into it as they are.
  if (line.size() < kHashLength + 3 || line[0] != '[' || line.substr(kHashLength + 1, 2) != "] ")
    return std::nullopt;
  const std::string_view rest = line.substr(kHashLength + 3);
  int depth = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (c == '[') ++depth;
    if (c == ']' && depth > 0) --depth;
    if (c == ':' && depth == 0 && i > 0) {
      const std::string_view text = rest.substr(i + 1);
      if (!text.empty() && text[0] != ' ') continue;
      return KeyComponent{line.substr(1, kHashLength), rest.substr(0, i),
                          text.empty() ? text : text.substr(1)};
    }
  }
  return std::nullopt;
}

KeyComponent KeyDetails::operator[](std::size_t i) const {
  const std::string_view line = lines_[i];
  return parse_key_line(line).value_or(KeyComponent{{}, {}, line});
}

std::optional<KeyComponent> KeyDetails::find(std::string_view path) const {
  for (const std::string_view line : lines_) {
    // Most lines differ in the first characters of their path: look there before parsing.
    if (line.size() < kHashLength + 3 + path.size() || line.substr(kHashLength + 3, path.size()) != path)
      continue;
    if (path_of(line) == path) return parse_key_line(line);
  }
  return std::nullopt;
}

std::optional<std::string_view> KeyDetails::config(std::string_view name) const {
  constexpr std::size_t kNameAt = kHashLength + 3 + kConfigPrefix.size();
  for (const std::string_view line : lines_) {
    // There are hundreds of options: only the line of the right one is parsed.
    const std::size_t end = kNameAt + name.size();
    if (line.size() < end + 2 || line[end] != ']' || line[end + 1] != ':') continue;
    if (line.substr(kNameAt, name.size()) != name) continue;
    if (line.substr(kHashLength + 3, kConfigPrefix.size()) != kConfigPrefix) continue;
    if (const auto component = parse_key_line(line)) return component->text;
  }
  return std::nullopt;
}

std::string_view KeyDetails::torch_identity() const {
  const auto component = find("torch_version");
  return component ? component->hash : std::string_view{};
}

std::string_view KeyDetails::device() const {
  const auto component = find("system_info[device]");
  return component ? component->text : std::string_view{};
}

std::vector<KeyComponent> KeyDetails::example_inputs() const {
  std::vector<KeyComponent> inputs;
  for (const std::string_view line : lines_) {
    if (line.size() < kHashLength + 3 || !line.substr(kHashLength + 3).starts_with("example_inputs["))
      continue;
    if (const auto component = parse_key_line(line)) inputs.push_back(*component);
  }
  return inputs;
}

std::vector<KeyComponent> KeyDetails::components() const {
  std::vector<KeyComponent> all;
  all.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) all.push_back((*this)[i]);
  return all;
}

void read_key_details(Reading& reading, const Path& path, const pickle::Value& value,
                      Field<KeyDetails>& out) {
  Field<Texts> lines;
  read(reading, path, value, lines);
  if (lines.is_none()) return out.set_none();
  if (!lines) return out.set_malformed();
  out = KeyDetails(*lines);
}

}  // namespace cachetool::torch
