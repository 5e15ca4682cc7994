#include "container/shape.h"

#include <algorithm>

namespace cachetool::container {
namespace {

// Of shapes with a 0 the product of the others may be beyond any number: it means nothing then.
std::int64_t times(std::int64_t stride, std::int64_t size) {
  const auto product =
      static_cast<std::uint64_t>(stride) * static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1));
  return static_cast<std::int64_t>(product & INT64_MAX);
}

}  // namespace

std::optional<std::uint64_t> bytes_for(std::span<const std::int64_t> size, std::uint64_t element) {
  bool empty = false;
  for (const std::int64_t length : size) {
    if (length < 0) return std::nullopt;
    empty = empty || length == 0;
  }
  if (empty) return 0;
  std::uint64_t bytes = element;
  for (const std::int64_t length : size) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(length), &bytes)) return std::nullopt;
  }
  return bytes;
}

std::vector<std::int64_t> row_strides(std::span<const std::int64_t> size) {
  std::vector<std::int64_t> stride(size.size(), 1);
  for (std::size_t i = size.size(); i-- > 1;) stride[i - 1] = times(stride[i], size[i]);
  return stride;
}

std::vector<std::int64_t> column_strides(std::span<const std::int64_t> size) {
  std::vector<std::int64_t> stride(size.size(), 1);
  for (std::size_t i = 1; i < size.size(); ++i) stride[i] = times(stride[i - 1], size[i - 1]);
  return stride;
}

}  // namespace cachetool::container
