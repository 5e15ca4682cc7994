#pragma once

#include <string>
#include <string_view>

namespace cachetool::replay {

/// A stored reason against CUDA graphs in one line: without torch's introduction ("skipping cudagraphs due
/// to") and without the stack trace. "cpu device (arg1_1)", "incompatible op aten.nonzero.default". Not
/// escaped; at most about 100 bytes.
std::string short_reason(std::string_view reason);

/// What kind of reason it is, the same for every graph and release: "cpu device", "multiple devices",
/// "incompatible op", …; for totals. A text that no known release writes gives its short_reason. The texts
/// are those of torch/_inductor/cudagraph_utils.py, compile_fx.py, graph.py, lowering.py and ir.py, 2.6 to
/// 2.15 (docs/post-compile.md).
std::string reason_group(std::string_view reason);

}  // namespace cachetool::replay
