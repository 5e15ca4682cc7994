#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "replay/wrapper/tree.h"

namespace cachetool::replay::wrapper {

struct ParserLimits {
  TokenLimits tokens;
  std::uint32_t max_depth = 200;  ///< of expressions and blocks inside each other
};

/// Parses the Python that Inductor writes into wrapper modules (torch/_inductor/codegen/wrapper.py, 2.4 to
/// 2.15): see tree.h for what it has. Anything else is an error, never skipped: decorators, comprehensions,
/// yield, try, match, starred arguments, f-strings, integers beyond 64 bits. `source` must outlive the tree.
/// Errors: kUnsupported for Python outside of this ("not executable: a decorator at line 12"), kMalformed for
/// what is no Python, kTruncated, kLimitSize, kLimitDepth; all with the offset.
Expected<Tree> parse_module(std::string_view source, const ParserLimits& limits = {});

}  // namespace cachetool::replay::wrapper
