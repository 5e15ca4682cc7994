#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace cachetool::container {

struct ZipLimits {
  std::uint32_t max_members = 100'000;
  std::uint32_t max_name = 4096;
  std::uint64_t max_member_bytes = std::uint64_t{1} << 30;  ///< of a member that is read, after decompression
};

struct ZipMember {
  std::string name;  ///< as stored: may be absolute or hold `..`, so never a path to write to
  std::uint64_t size = 0;
  bool stored = false;                  ///< not compressed, as AOTInductor packages are
  std::optional<std::uint64_t> offset;  ///< of a stored member's first byte, where it lies in one piece
};

/// Lists the members of a zip archive in memory (an AOTInductor `.pt2` package) through libarchive,
/// directories left out. Errors: kMalformed when it is no zip or is damaged, kLimitSize past `limits`.
Expected<std::vector<ZipMember>> list_zip(std::string_view bytes, const ZipLimits& limits = {});

/// Contents of the first member called `name`. Errors: as `list_zip`, kNotFound, kLimitSize when it is larger
/// than allowed (whatever size it declares).
Expected<std::string> read_zip_member(std::string_view bytes, std::string_view name,
                                      const ZipLimits& limits = {});

}  // namespace cachetool::container
