#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cachetool::container {

/// Bytes that elements of `element` bytes in that shape take; nothing when 64 bits don't hold it, or a size
/// is negative. A shape that has a 0 anywhere takes none.
std::optional<std::uint64_t> bytes_for(std::span<const std::int64_t> size, std::uint64_t element);

/// Strides in elements of a tensor whose last dimension runs fastest. As torch has it, a dimension of no
/// elements counts as one of one element. Sizes must pass bytes_for, or the result wraps around.
std::vector<std::int64_t> row_strides(std::span<const std::int64_t> size);
/// The same with the first dimension fastest.
std::vector<std::int64_t> column_strides(std::span<const std::int64_t> size);

}  // namespace cachetool::container
