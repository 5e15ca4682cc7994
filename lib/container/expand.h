#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace cachetool::container {

enum class Compression : std::uint8_t {
  kDeflate,  ///< bare, as in zip archives
  kZlib,
  kGzip,
  kZstd,
};

/// "deflate", "zlib", "gzip", "zstd".
std::string_view compression_name(Compression compression);

struct ExpandLimits {
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  ///< of the result
  unsigned max_window_log = 27;                      ///< of a zstd frame: more is kLimitMemory
};

/// What compressed bytes hold.
struct Expanded {
  std::string bytes;  ///< up to the error, where there is one: a reader that streams would have got it
  std::uint64_t consumed = 0;  ///< of the input
  std::optional<Error>
      error;  ///< kTruncated, kMalformed; kLimitSize, kLimitMemory; the offset is the input's
};

/// The kind of compressed data that `bytes` start as (gzip, zstd and its skippable frames, zlib); empty for
/// others.
std::optional<Compression> starts_compressed(std::string_view bytes);

/// Decompresses, several gzip members or zstd frames in a row too. Memory grows as bytes arrive, whatever
/// sizes are declared. What follows the last member that is no other member isn't consumed.
Expanded expand(std::string_view bytes, Compression compression, const ExpandLimits& limits = {});

}  // namespace cachetool::container
