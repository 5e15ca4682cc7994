#include "replay/hints.h"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "pickle/sym_expr.h"

namespace cachetool::replay {
namespace {

// More sizes than any graph has; a position beyond it is a mistake.
constexpr std::size_t kMaxPosition = 10'000;

std::optional<std::int64_t> integer(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::size_t> position(std::string_view digits) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value < kMaxPosition ? std::optional(value) : std::nullopt;
}

// "t0" as well as "L['t0']".
std::optional<std::size_t> position_of_name(std::string_view name) {
  if (name.starts_with('t')) return position(name.substr(1));
  return size_position(name);
}

// An expression of symbols that all have a value; nothing when one lacks it or the expression can't be read.
std::optional<std::int64_t> evaluate(std::string_view expression,
                                     const std::map<std::string, std::int64_t, std::less<>>& symbols) {
  const auto parsed = pickle::SymExpr::parse(expression);
  if (!parsed) return std::nullopt;
  const auto value = parsed->evaluate([&](std::string_view name) -> std::optional<std::int64_t> {
    const auto found = symbols.find(name);
    return found == symbols.end() ? std::nullopt : std::optional(found->second);
  });
  if (!value || value->is_float()) return std::nullopt;
  const pickle::Int128 wide = value->as_int();
  const auto narrow = static_cast<std::int64_t>(wide);
  return narrow == wide ? std::optional(narrow) : std::nullopt;
}

class Binding {
 public:
  Binding(const LookupHints& hints, SizeInputs inputs) : hints_(hints) { sizes_.inputs = std::move(inputs); }

  Expected<SizeValues> run() {
    const SizeInputs& inputs = sizes_.inputs;
    const std::vector<std::int64_t>& list = hints_.by_position();
    if (inputs.complete && list.size() > inputs.expressions.size()) {
      return fail(ErrorCode::kUsage,
                  fmt::format("{} sizes are given, the graph has {}", list.size(), inputs.expressions.size()),
                  {}, {}, known_hint());
    }
    for (std::size_t n = 0; n < list.size(); ++n) {
      if (auto done = set(n, list[n]); !done) return tl::unexpected(done.error());
    }
    for (const auto& [name, value] : hints_.by_name()) {
      if (auto done = take(name, value); !done) return tl::unexpected(done.error());
    }
    for (std::size_t n = 0; n < inputs.expressions.size(); ++n) {
      const auto value = evaluate(inputs.expressions[n], symbols_);
      if (!value) continue;
      if (auto done = set(n, *value); !done) return tl::unexpected(done.error());
    }
    return std::move(sizes_);
  }

 private:
  // A symbol's value, or that of a position.
  Status take(const std::string& name, std::int64_t value) {
    const SizeInputs& inputs = sizes_.inputs;
    if (const auto n = position_of_name(name)) {
      if (inputs.complete && *n >= inputs.expressions.size()) return no_such(name);
      return set(*n, value);
    }
    const bool named = std::any_of(inputs.expressions.begin(), inputs.expressions.end(),
                                   [&](const std::string& expression) { return mentions(expression, name); });
    if (!named) return no_such(name);
    return set_symbol(name, value);
  }

  static bool mentions(const std::string& expression, const std::string& name) {
    if (expression == name) return true;
    const auto parsed = pickle::SymExpr::parse(expression);
    if (!parsed) return false;
    const auto& names = parsed->free_names();
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  Status set(std::size_t n, std::int64_t value) {
    if (sizes_.values.size() <= n) sizes_.values.resize(n + 1);
    std::optional<std::int64_t>& slot = sizes_.values[n];
    if (slot && *slot != value) return contradiction(sizes_.label(n), *slot, value);
    slot = value;
    if (n >= sizes_.inputs.expressions.size()) return {};
    const std::string& expression = sizes_.inputs.expressions[n];
    const auto parsed = pickle::SymExpr::parse(expression);
    const bool symbol = parsed && parsed->free_names().size() == 1 && parsed->free_names()[0] == expression;
    return symbol ? set_symbol(expression, value) : Status();
  }

  Status set_symbol(const std::string& name, std::int64_t value) {
    const auto [found, added] = symbols_.try_emplace(name, value);
    if (!added && found->second != value) return contradiction(name, found->second, value);
    return {};
  }

  static Status contradiction(const std::string& what, std::int64_t one, std::int64_t other) {
    return fail(ErrorCode::kUsage, fmt::format("{} cannot be {} and {}", what, one, other));
  }

  Status no_such(const std::string& name) const {
    return fail(ErrorCode::kUsage, fmt::format("no size of the graph is called {}", name), {}, {},
                known_hint());
  }

  std::string known_hint() const {
    const std::string known = sizes_.known();
    std::string hint = known.empty() ? "no symbols are known" : "known: " + known;
    if (!sizes_.inputs.complete)
      hint += fmt::format(" ({}; t0, t1, … name sizes by position)", sizes_.inputs.reason);
    return hint;
  }

  const LookupHints& hints_;
  SizeValues sizes_;
  std::map<std::string, std::int64_t, std::less<>> symbols_;
};

}  // namespace

Status LookupHints::add_list(std::string_view text) {
  if (by_position_) return fail(ErrorCode::kUsage, "--hints can be given once");
  std::vector<std::int64_t> values;
  for (std::string_view rest = text; !text.empty();) {
    const std::size_t comma = rest.find(',');
    const auto value = integer(rest.substr(0, comma));
    if (!value)
      return fail(ErrorCode::kUsage, fmt::format("'{}' is no list of sizes", text), {}, {}, "give 40,32");
    values.push_back(*value);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  by_position_ = std::move(values);
  return {};
}

Status LookupHints::add_named(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  const auto value = equals == std::string_view::npos ? std::nullopt : integer(text.substr(equals + 1));
  if (!value || equals == 0)
    return fail(ErrorCode::kUsage, fmt::format("'{}' names no size", text), {}, {}, "give s77=40");
  std::string name(text.substr(0, equals));
  for (const auto& [known, given] : by_name_) {
    if (known != name) continue;
    if (given == *value) return {};
    return fail(ErrorCode::kUsage, fmt::format("{} cannot be {} and {}", name, given, *value));
  }
  by_name_.emplace_back(std::move(name), *value);
  return {};
}

const std::vector<std::int64_t>& LookupHints::by_position() const {
  static const std::vector<std::int64_t> none;
  return by_position_ ? *by_position_ : none;
}

std::string SizeValues::label(std::size_t n) const {
  std::string text = fmt::format("L['t{}']", n);
  if (n < inputs.expressions.size()) text += fmt::format(" ({})", inputs.expressions[n]);
  return text;
}

std::string SizeValues::known() const {
  std::string text;
  for (std::size_t n = 0; n < inputs.expressions.size(); ++n)
    text += fmt::format("{}{} is L['t{}']", n > 0 ? ", " : "", inputs.expressions[n], n);
  return text;
}

Expected<SizeValues> bind_hints(const LookupHints& hints, SizeInputs inputs) {
  return Binding(hints, std::move(inputs)).run();
}

std::optional<std::size_t> size_position(std::string_view name) {
  if (!name.starts_with("L['t") || !name.ends_with("']")) return std::nullopt;
  return position(name.substr(4, name.size() - 6));
}

}  // namespace cachetool::replay
