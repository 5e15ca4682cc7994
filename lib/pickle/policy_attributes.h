#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "pickle/value.h"

namespace cachetool::pickle {

/// Reads attributes out of the states of an object; of several values the last counts.
class Attributes {
 public:
  explicit Attributes(const ObjectNode& object) : states_(object.states.items()) {}

  const Value* find(std::string_view name) const {
    const Value* found = nullptr;
    const auto look = [&](const Value& part) {
      const Value* value = part.is(Tag::kDict) ? pickle::find(part.dict(), name) : nullptr;
      if (value != nullptr) found = value;
    };
    for (const Value& state : states_) {
      look(state);
      if (!state.is(Tag::kTuple)) continue;
      for (const Value& part : items_of(state)) look(part);
    }
    return found;
  }

  std::string_view text(std::string_view name) const {
    const Value* value = find(name);
    return value ? text_or(*value) : std::string_view{};
  }

 private:
  std::span<const Value> states_;
};

inline bool is_name_character(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// True for what Python takes for a name, of ASCII only.
inline bool is_identifier(std::string_view text) {
  return !text.empty() && (text[0] < '0' || text[0] > '9') &&
         std::all_of(text.begin(), text.end(), is_name_character);
}

}  // namespace cachetool::pickle
