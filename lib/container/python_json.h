#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "container/tree.h"

namespace cachetool::container {

/// The text that Python's `json.dumps(value, sort_keys=True)` writes: ASCII only, ", " and ": " between,
/// keys in the order of their code points, the last of equal keys. `without` names a member of the outermost
/// object that is left out. Values that JSON doesn't have (bytes) become null. No recursion; linear but for
/// sorting.
std::string python_json(const Node& value, std::optional<std::string_view> without = {});

}  // namespace cachetool::container
