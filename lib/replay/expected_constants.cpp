#include "replay/expected_constants.h"

#include <charconv>
#include <unordered_map>
#include <utility>

#include "base/text.h"

namespace cachetool::replay {
namespace {

// Reads `device(type='cuda', index=0) torch.float32 (6, 11) (1, 6) 7fe8…` piece by piece.
class Declaration {
 public:
  explicit Declaration(std::string_view text) : rest_(text) {}

  bool read(ExpectedConstant& out) {
    ExpectedConstant found;
    found.size.emplace();
    found.stride.emplace();
    if (!device(found.device) || !take(" torch.") || !word(found.dtype) || !take(" ") ||
        !counts(*found.size) || !take(" ") || !counts(*found.stride) || !take(" ") || !identity())
      return false;
    if (found.size->size() != found.stride->size()) return false;
    out = std::move(found);
    return true;
  }

 private:
  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  bool word(std::string& out) {
    std::size_t length = 0;
    while (length < rest_.size() && (is_digit(rest_[length]) || rest_[length] == '_' ||
                                     (rest_[length] >= 'a' && rest_[length] <= 'z')))
      ++length;
    out = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return length != 0;
  }

  bool number(std::int64_t& out) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out);
    if (error != std::errc() || out < 0) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return true;
  }

  bool device(std::string& out) {
    if (!take("device(type='") || !word(out) || !take("'")) return false;
    std::int64_t index = 0;
    if (take(", index=")) {
      if (!number(index)) return false;
      out += ":" + std::to_string(index);
    }
    return take(")");
  }

  // A tuple of counts, as Python writes it.
  bool counts(std::vector<std::int64_t>& out) {
    if (!take("(")) return false;
    if (take(")")) return true;
    do {
      std::int64_t count = 0;
      if (!number(count)) return false;
      out.push_back(count);
      if (out.size() == 1 && take(",)")) return true;
    } while (take(", "));
    return out.size() > 1 && take(")");
  }

  // The object's hash, to the end of the line.
  bool identity() {
    if (rest_.starts_with('-')) rest_.remove_prefix(1);
    if (rest_.empty()) return false;
    for (const char c : rest_) {
      if (hex_digit(c) < 0) return false;
    }
    return true;
  }

  std::string_view rest_;
};

// The name that a line declares, and what it says of it; an empty name for any other line.
std::pair<std::string_view, std::string_view> declared(std::string_view line) {
  constexpr std::string_view kPython = " = None  # ";
  constexpr std::string_view kCpp = "// ";
  if (line.starts_with(kCpp)) {
    line.remove_prefix(kCpp.size());
    const std::size_t end = line.find(' ');
    if (end == std::string_view::npos) return {};
    return {line.substr(0, end), line.substr(end + 1)};
  }
  const std::size_t end = line.find(' ');
  if (end == std::string_view::npos || !line.substr(end).starts_with(kPython)) return {};
  return {line.substr(0, end), line.substr(end + kPython.size())};
}

}  // namespace

std::vector<ExpectedConstant> expected_constants(std::string_view source_code,
                                                 const std::vector<FrozenName>& names) {
  std::vector<ExpectedConstant> expected(names.size());
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < names.size(); ++i) places.try_emplace(names[i].name, i);
  while (!source_code.empty() && !places.empty()) {
    const std::size_t end = std::min(source_code.find('\n'), source_code.size());
    const auto [name, text] = declared(source_code.substr(0, end));
    source_code.remove_prefix(std::min(end + 1, source_code.size()));
    const auto place = places.find(name);
    if (name.empty() || place == places.end()) continue;
    // The first declaration is the wrapper's own: they stand in front of everything else.
    if (Declaration(text).read(expected[place->second])) places.erase(place);
  }
  return expected;
}

}  // namespace cachetool::replay
