#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace cachetool::container {

/// A regular file in a tar archive.
struct TarMember {
  std::string name;          ///< as stored: may be absolute or hold `..`, so never a path to write to
  std::uint64_t offset = 0;  ///< of the first byte in the archive
  std::string_view bytes;    ///< into the archive
  bool in_one_piece = true;  ///< false: a sparse file, `bytes` is empty
};

/// True when `bytes` start with a tar header whose checksum fits (old archives have no magic word).
bool looks_like_tar(std::string_view bytes);

struct TarListing {
  std::vector<TarMember>
      members;  ///< up to the error, where there is one: readers that stream would have got them
  std::optional<Error> error;  ///< kMalformed, kLimitSize past the number of members allowed, kLimitMemory
};

/// Lists the regular files of a tar archive in memory through libarchive.
TarListing list_tar(std::string_view bytes, std::size_t max_members = 100'000);

}  // namespace cachetool::container
