#include "replay/integer_inputs.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace cachetool::replay {
namespace {

bool is_identifier(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// torch.fx.experimental.symbolic_shapes names sizes s<n> and, where data decides them, u<n>.
bool is_symbol(std::string_view text) {
  return text.size() > 1 && (text[0] == 's' || text[0] == 'u') &&
         std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  std::optional<std::string_view> next() {
    if (rest_.empty()) return std::nullopt;
    const std::size_t end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    return trimmed(line);
  }

 private:
  std::string_view rest_;
};

std::string_view after_definition(std::string_view source, std::string_view function) {
  const std::string opening = "def " + std::string(function) + "(";
  for (std::size_t at = source.find(opening); at != std::string_view::npos;
       at = source.find(opening, at + 1)) {
    // At the beginning of a line, but for its indentation; kernels are quoted in the same text.
    const std::size_t line = source.rfind('\n', at) + 1;
    if (!trimmed(source.substr(line, at - line)).empty()) continue;
    const std::size_t end = source.find('\n', at);
    if (end == std::string_view::npos) return {};
    const std::string_view definition = trimmed(source.substr(at, end - at));
    if (definition.ends_with("args):")) return source.substr(end + 1);
  }
  return {};
}

// `a, b = args` → its names.
std::optional<std::vector<std::string_view>> unpacked(std::string_view line) {
  constexpr std::string_view kEnd = " = args";
  if (!line.ends_with(kEnd)) return std::nullopt;
  std::string_view list = line.substr(0, line.size() - kEnd.size());
  std::vector<std::string_view> names;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view name = trimmed(list.substr(0, comma));
    if (!is_identifier(name)) return std::nullopt;
    names.push_back(name);
    list = comma == std::string_view::npos ? std::string_view() : trimmed(list.substr(comma + 1));
  }
  return names;
}

}  // namespace

std::optional<CallInputs> call_inputs(std::string_view source_code, std::string_view function) {
  Lines lines(after_definition(source_code, function));
  const auto first = lines.next();
  if (!first) return std::nullopt;
  const auto names = unpacked(*first);
  if (!names) return std::nullopt;
  std::unordered_map<std::string_view, std::size_t> positions;
  CallInputs inputs;
  inputs.count = names->size();
  for (std::size_t i = 0; i < names->size(); ++i) {
    positions.emplace((*names)[i], i);
    if (is_symbol((*names)[i])) inputs.integers.push_back({i, (*names)[i]});
  }
  for (auto line = lines.next(); line; line = lines.next()) {
    if (*line == "args.clear()") continue;
    const std::size_t equals = line->find(" = ");
    if (equals == std::string_view::npos) break;
    const std::string_view symbol = line->substr(0, equals);
    const auto position = positions.find(line->substr(equals + 3));
    if (!is_symbol(symbol) || position == positions.end()) break;
    if (!is_symbol(position->first)) inputs.integers.push_back({position->second, symbol});
  }
  std::sort(inputs.integers.begin(), inputs.integers.end(),
            [](const IntegerInput& a, const IntegerInput& b) { return a.position < b.position; });
  return inputs;
}

}  // namespace cachetool::replay
