#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace cachetool::container {

/// One array of a `.npy` file. A view into the file's bytes.
struct NpyArray {
  std::string_view dtype;  ///< torch's name ("float32"); "raw8", "raw16" for bytes that numpy has no type for
  std::vector<std::int64_t> size;
  std::vector<std::int64_t>
      stride;              ///< in elements: row by row, or column by column where the header says so
  std::string_view bytes;  ///< the elements, little-endian
};

/// True when `bytes` start as a `.npy` file does.
bool starts_as_npy(std::string_view bytes);

/// Reads a `.npy` file: versions 1 to 3 of its header, plain numbers and booleans (numpy/lib/format.py:
/// read_array_header_1_0, read_array, 2.4). Errors: kTruncated and kMalformed with the offset; kUnsupported
/// for big-endian elements, structures, text and pickled objects; kLimitSize for a header of more than 64
/// KiB.
Expected<NpyArray> read_npy(std::string_view bytes);

}  // namespace cachetool::container
