#pragma once

#include <string_view>

#include "base/error.h"
#include "container/tree.h"

namespace cachetool::container {

/// Whether `Infinity`, `-Infinity` and `NaN` are numbers. Python's json module writes and reads them, so
/// Triton's
/// `*.autotune.json` holds them (triton/runtime/autotuner.py: Autotuner.check_disk_cache, 3.5.1); RFC 8259
/// has none.
enum class NonFinite : bool { kRejected, kAllowed };

/// Checks that `text` is one JSON document within `limits`, keeping nothing. Errors: kMalformed with the
/// offset of the byte that breaks the grammar, kTruncated when the text ends too early, kLimit….
Status validate_json(std::string_view text, const TreeLimits& limits = {},
                     NonFinite non_finite = NonFinite::kRejected);

/// Reads one JSON document from a foreign file. Integers beyond 64 bits and floats keep their text, duplicate
/// keys are kept and counted. Errors as `validate_json`. Linear time.
Expected<Tree> read_json(std::string_view text, const TreeLimits& limits = {},
                         NonFinite non_finite = NonFinite::kRejected);

}  // namespace cachetool::container
