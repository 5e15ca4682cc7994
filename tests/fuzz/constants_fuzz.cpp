// Files of constants, any bytes: reading them ends, and every element that a value's size, stride and offset
// reach lies in its storage. The same bytes are a wrapper's text, whose declarations are looked for.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "replay/expected_constants.h"
#include "replay/supplied_values.h"

namespace {

using namespace cachetool;
using namespace cachetool::replay;

std::size_t sum_of(std::string_view bytes) {
  std::size_t sum = 0;
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
  return sum;
}

void check(const SuppliedValue& value) {
  if (!value.other.empty()) return;
  const torch::Tensor& tensor = value.tensor;
  if (!tensor.storage || tensor.size.size() != tensor.stride.size()) std::abort();
  sum_of(tensor.storage->bytes);
  const bool raw = tensor.dtype.starts_with("raw");
  const std::uint64_t element = raw ? (tensor.dtype == "raw16" ? 2 : 1) : torch::dtype_size(tensor.dtype);
  if (element == 0) std::abort();
  if (tensor.storage_offset < 0) std::abort();
  auto last = static_cast<std::uint64_t>(tensor.storage_offset);
  for (std::size_t i = 0; i < tensor.size.size(); ++i) {
    if (tensor.size[i] == 0) return;
  }
  for (std::size_t i = 0; i < tensor.size.size(); ++i) {
    std::uint64_t reach = 0;
    const auto steps = static_cast<std::uint64_t>(tensor.size[i] - 1);
    if (__builtin_mul_overflow(steps, static_cast<std::uint64_t>(tensor.stride[i]), &reach) ||
        __builtin_add_overflow(last, reach, &last))
      std::abort();
  }
  if (last >= tensor.storage->bytes.size() / element) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const SuppliedLimits limits{.max_bytes = 1 << 20};
  if (const auto values = SuppliedValues::of_bytes(bytes, "x", limits)) {
    for (const SuppliedValue& value : values->values()) check(value);
  } else if (values.error().offset.value_or(0) > size + (1 << 20)) {
    std::abort();
  }
  const auto expected = expected_constants(bytes, {{"_frozen_param1", "a"}, {"c0", "c0"}});
  for (const ExpectedConstant& constant : expected) {
    if (constant.size.has_value() != constant.stride.has_value()) std::abort();
    if (constant.size && constant.size->size() != constant.stride->size()) std::abort();
  }
  return 0;
}
