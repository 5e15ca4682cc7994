#include "store/filter.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/units.h"
#include "store/filter_keys.h"

namespace cachetool::store {
namespace {

using Operator = Filter::Operator;

// Longer spellings first.
constexpr std::pair<std::string_view, Operator> kOperators[] = {
    {"!=", Operator::kNotEqual}, {"<=", Operator::kLessEqual}, {">=", Operator::kGreaterEqual},
    {"~=", Operator::kContains}, {"=", Operator::kEqual},      {"<", Operator::kLess},
    {">", Operator::kGreater},
};

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool contains_any_case(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Takes a value off the front of `rest`, which then starts with a comma or is empty.
Expected<std::string> take_value(std::string_view& rest) {
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  if (rest.empty() || rest.front() != '"') {
    const std::string_view value = trim(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.find(','), rest.size()));
    return std::string(value);
  }
  std::string value;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] != '"') {
      value += rest[i];
    } else if (i + 1 < rest.size() && rest[i + 1] == '"') {
      value += rest[i++];
    } else {
      rest = trim(rest.substr(i + 1));
      if (rest.empty() || rest.front() == ',') return value;
      return fail(ErrorCode::kUsage, "a comma must follow the quoted value \"" + value + "\"");
    }
  }
  return fail(ErrorCode::kUsage, "the quoted value \"" + value + " has no end");
}

Expected<std::int64_t> parse_number(FilterValue kind, const std::string& text) {
  if (kind == FilterValue::kDuration) return parse_duration(text);
  if (kind == FilterValue::kSize) {
    return parse_size(text).map([](std::uint64_t size) { return static_cast<std::int64_t>(size); });
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= 0) return number;
  return fail(ErrorCode::kUsage, "\"" + text + "\" is no number");
}

bool holds(Operator op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Operator::kEqual:
      return a == b;
    case Operator::kNotEqual:
      return a != b;
    case Operator::kLess:
      return a < b;
    case Operator::kLessEqual:
      return a <= b;
    case Operator::kGreater:
      return a > b;
    case Operator::kGreaterEqual:
      return a >= b;
    case Operator::kContains:
      return false;
  }
  return false;
}

bool is_text(FilterValue value) {
  return value == FilterValue::kText || value == FilterValue::kPrefix;
}

}  // namespace

Expected<Filter::Condition> Filter::parse_comparison(std::string_view& rest) {
  const std::size_t name_end = rest.find_first_of("=!<>~,");
  const std::string_view name = trim(rest.substr(0, name_end));
  const auto keys = filter_keys();
  const auto key = std::find_if(keys.begin(), keys.end(), [&](const FilterKey& k) { return k.name == name; });
  if (key == keys.end()) {
    return fail(ErrorCode::kUsage, "\"" + std::string(name) + "\" is no key of a filter", {}, {},
                "keys: " + filter_key_names());
  }
  rest.remove_prefix(std::min(name_end, rest.size()));
  const auto spelling = std::find_if(std::begin(kOperators), std::end(kOperators),
                                     [&](const auto& known) { return rest.starts_with(known.first); });
  if (spelling == std::end(kOperators)) {
    return fail(ErrorCode::kUsage, "\"" + std::string(name) + "\" needs an operator: = != < <= > >= ~=");
  }
  const Operator op = spelling->second;
  rest.remove_prefix(spelling->first.size());
  auto value = take_value(rest);
  if (!value) return tl::unexpected(value.error());
  if (is_text(key->value)) {
    if (op != Operator::kEqual && op != Operator::kNotEqual && op != Operator::kContains) {
      return fail(ErrorCode::kUsage, "\"" + std::string(name) + "\" is a text and has no order: use = != ~=");
    }
    return Condition{&*key, op, std::move(*value), 0};
  }
  if (op == Operator::kContains) {
    return fail(ErrorCode::kUsage, "\"" + std::string(name) + "\" is a number: use = != < <= > >=");
  }
  const auto number = parse_number(key->value, *value);
  if (!number) return tl::unexpected(number.error());
  return Condition{&*key, op, {}, *number};
}

Expected<Filter> Filter::parse(std::string_view text) {
  Filter filter;
  std::string_view rest = trim(text);
  if (rest.empty()) return fail(ErrorCode::kUsage, "the filter is empty");
  while (true) {
    auto condition = parse_comparison(rest);
    if (!condition) {
      Error error = condition.error();
      error.message = "filter: " + error.message;
      return tl::unexpected(std::move(error));
    }
    filter.conditions_.push_back(std::move(*condition));
    if (rest.empty()) return filter;
    rest.remove_prefix(1);  // the comma
  }
}

bool Filter::matches(const EntryRow& row, const Interner& strings, std::int64_t now_ns) const {
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const Condition& condition) {
    const FilterKey& key = *condition.key;
    if (!is_text(key.value)) {
      const auto number = key.number(row, now_ns);
      return number ? holds(condition.op, *number, condition.number) : condition.op == Operator::kNotEqual;
    }
    const auto texts = key.texts(row, strings);
    const bool found = std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
      if (condition.op == Operator::kContains) return contains_any_case(text, condition.text);
      return key.value == FilterValue::kPrefix ? text.starts_with(condition.text) : text == condition.text;
    });
    return found != (condition.op == Operator::kNotEqual);
  });
}

bool Filter::uses(std::string_view key) const {
  return std::any_of(conditions_.begin(), conditions_.end(),
                     [&](const Condition& condition) { return condition.key->name == key; });
}

std::string filter_key_names() {
  std::string names;
  for (const FilterKey& key : filter_keys()) {
    if (!names.empty()) names += ", ";
    names += key.name;
  }
  return names;
}

}  // namespace cachetool::store
