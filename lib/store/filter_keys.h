#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/interner.h"
#include "store/entry_row.h"

namespace cachetool::store {

/// What a key of the filter grammar compares.
enum class FilterValue : std::uint8_t {
  kText,      ///< any of the entry's texts is equal
  kPrefix,    ///< any of them starts so
  kSize,      ///< bytes, written as "1M"
  kDuration,  ///< nanoseconds, written as "7d"
  kCount,     ///< a plain number
};

struct FilterKey {
  std::string_view name;
  FilterValue value;
  /// The texts of an entry under this key; null for numbers.
  std::vector<std::string> (*texts)(const EntryRow&, const Interner&);
  /// Its number, absent when the entry doesn't tell; null for texts.
  std::optional<std::int64_t> (*number)(const EntryRow&, std::int64_t now_ns);
};

std::span<const FilterKey> filter_keys();

}  // namespace cachetool::store
