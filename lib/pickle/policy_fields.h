#pragma once

#include <optional>
#include <string>

#include "pickle/value.h"

namespace cachetool::pickle {

/// What is wrong with the state of an object.
struct FieldObjection {
  std::string subject;  ///< "TritonKernelArtifact.filename"
  std::string reason;   ///< a clause for a person
};

/// Fields of entries that torch puts into a path or into the text of a function: names of files that would be
/// written elsewhere (torch/_inductor/triton_bundler.py: read_and_emit, 2.6 to 2.14) and names of arguments
/// that would be code (torch/_inductor/runtime/triton_heuristics.py: _gen_launcher_code, 2.8 to 2.14).
std::optional<FieldObjection> field_objection(const ObjectNode& object);

}  // namespace cachetool::pickle
