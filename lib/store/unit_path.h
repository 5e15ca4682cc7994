#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "store/classify.h"
#include "store/references.h"

namespace cachetool::store {

/// Which unit a file belongs to.
struct UnitPlace {
  Unit::Kind kind;
  std::string path;      ///< Unit::path
  bool is_lock = false;  ///< the file is a lock for the unit: it stays when the unit goes
};

/// By place and name alone; empty for files that belong to no unit (locks of other things, PGO state,
/// temporaries, …).
std::optional<UnitPlace> unit_place(const Classified& classified, std::string_view path);

}  // namespace cachetool::store
