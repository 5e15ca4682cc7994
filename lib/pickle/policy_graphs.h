#pragma once

#include <optional>

#include "pickle/policy_fields.h"
#include "pickle/value.h"

namespace cachetool::pickle {

/// Stored graphs (torch/fx/_graph_pickler.py, 2.9 to 2.14) become Python text that torch compiles, and name
/// the functions that it calls. What is wrong with the call that made `object`, or nothing: names that aren't
/// identifiers would be text of their own, and functions beyond operators would do more than compute.
std::optional<FieldObjection> graph_objection(const ObjectNode& object);

}  // namespace cachetool::pickle
