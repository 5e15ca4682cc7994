// Guard expressions: parsing ends, and what parses evaluates to a number or an error.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "pickle/sym_expr.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using cachetool::pickle::SymExpr;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto expression = SymExpr::parse(text);
  if (!expression) {
    if (expression.error().offset.value_or(0) > size) std::abort();
    return 0;
  }
  for (const std::int64_t value : {0, 1, 7, -3}) {
    const auto result =
        expression->evaluate([value](std::string_view) { return std::optional<std::int64_t>(value); });
    if (!result && result.error().offset.value_or(0) > size) std::abort();
  }
  return 0;
}
