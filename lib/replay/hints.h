#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "replay/size_inputs.h"

namespace cachetool::replay {

/// Sizes of the caller's inputs, as a user gives them: what torch calls hints.
class LookupHints {
 public:
  /// "40,32": of L['t0'], L['t1'], … Errors: kUsage for what is no list of integers, or the second list.
  Status add_list(std::string_view text);
  /// "s77=40", or "t0=40" for L['t0']. Errors: kUsage for another form, or another value for the same name.
  Status add_named(std::string_view text);

  bool empty() const { return !by_position_ && by_name_.empty(); }
  const std::vector<std::int64_t>& by_position() const;
  const std::vector<std::pair<std::string, std::int64_t>>& by_name() const { return by_name_; }

 private:
  std::optional<std::vector<std::int64_t>> by_position_;
  std::vector<std::pair<std::string, std::int64_t>> by_name_;
};

/// The values of L['t0'], L['t1'], … in one lookup.
struct SizeValues {
  SizeInputs inputs;
  std::vector<std::optional<std::int64_t>>
      values;  ///< by N; may be shorter or longer than inputs.expressions

  std::optional<std::int64_t> value(std::size_t n) const {
    return n < values.size() ? values[n] : std::nullopt;
  }
  /// "L['t0'] (s77)", or without the symbol where it isn't known.
  std::string label(std::size_t n) const;
  /// "s77 is L['t0'], s27 is L['t1']"; empty when nothing is known.
  std::string known() const;
};

/// Gives the inputs their values: a symbol's goes to each input that is it, and into each expression of
/// symbols that all have one. Errors: kUsage for a name that none of the inputs has (the hint lists those
/// known), for more sizes than there are inputs, and for values that contradict each other.
Expected<SizeValues> bind_hints(const LookupHints& hints, SizeInputs inputs);

/// N of "L['tN']"; nothing for another name.
std::optional<std::size_t> size_position(std::string_view name);

}  // namespace cachetool::replay
