#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/interner.h"
#include "store/entry_row.h"

namespace cachetool::store {

struct FilterKey;

/// A condition on entries as users write it with --filter: comparisons joined by commas, all of which must
/// hold.
///
///     filter     = comparison *( "," comparison )
///     comparison = key operator value
///     operator   = "=" | "!=" | "<" | "<=" | ">" | ">=" | "~="
///     value      = anything without a comma, or a text in double quotes ("" for a quote inside)
///
/// `=` on a key that has several values (device, op, torch) means "contains"; `key` and `leaf` compare by
/// prefix; `~=` is a substring in any case. Sizes, ages, times and counts have an order, texts have not. What
/// an entry doesn't tell fulfils no comparison but `!=`.
class Filter {
 public:
  /// Everything passes.
  Filter() = default;
  /// kUsage names the comparison that makes no sense.
  static Expected<Filter> parse(std::string_view text);
  bool matches(const EntryRow& row, const Interner& strings, std::int64_t now_ns) const;
  /// Is there a comparison with this key?
  bool uses(std::string_view key) const;

  enum class Operator : std::uint8_t {
    kEqual,
    kNotEqual,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kContains
  };

 private:
  struct Condition {
    const FilterKey* key;
    Operator op;
    std::string text;
    std::int64_t number;
  };
  static Expected<Condition> parse_comparison(std::string_view& rest);
  std::vector<Condition> conditions_;
};

/// "kind, key, …": every key of the grammar, for help and error texts.
std::string filter_key_names();

}  // namespace cachetool::store
