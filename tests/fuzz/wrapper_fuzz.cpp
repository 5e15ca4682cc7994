// Wrapper modules: parsing ends, errors point into the text, and every position in a tree is one of its
// nodes.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "replay/wrapper/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cachetool::replay::wrapper;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tree = parse_module(text);
  if (!tree) {
    if (tree.error().offset.value_or(0) > size) std::abort();
    return 0;
  }
  for (const Expression& expression : tree->expressions) {
    if (expression.at.offset > size) std::abort();
    if (const auto* call = std::get_if<CallExpr>(&expression.value)) {
      for (const ExpressionId id : call->arguments) {
        if (id >= tree->expressions.size()) std::abort();
      }
    }
  }
  for (const StatementId id : tree->body) {
    if (id >= tree->statements.size()) std::abort();
  }
  return 0;
}
