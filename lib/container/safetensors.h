#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace cachetool::container {

/// One tensor of a `.safetensors` file: elements row by row, little-endian.
struct SafeTensor {
  std::string name;
  std::string_view dtype;  ///< torch's name: "bfloat16"
  std::vector<std::int64_t> size;
  std::string_view bytes;  ///< in the file
};

/// True when `bytes` look like a `.safetensors` file: a length that the file can hold, then '{'.
bool looks_like_safetensors(std::string_view bytes);

/// Reads a `.safetensors` file, as the format's own reader does: a 64-bit length, a JSON header of at most
/// 100,000,000 bytes, then the elements, of which every byte belongs to exactly one tensor
/// (safetensors/src/tensor.rs: SafeTensors::read_metadata, Metadata::validate, 0.8). In the order of their
/// places. Errors: kTruncated and kMalformed with the offset (gaps, overlaps, sizes that differ, a name
/// twice), kUnsupported for a dtype that torch doesn't have, kLimit….
Expected<std::vector<SafeTensor>> read_safetensors(std::string_view bytes);

}  // namespace cachetool::container
