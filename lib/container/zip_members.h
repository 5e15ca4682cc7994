#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace cachetool::container {

/// A member of a zip archive with its contents.
struct ZipContent {
  std::string_view name;  ///< as stored, any bytes
  std::string_view bytes;
  std::uint64_t offset = 0;  ///< of the packed bytes, in the archive
};

/// The members of a small archive, unpacked. Move-only; views stay valid when it moves.
struct ZipContents {
  std::vector<ZipContent> members;  ///< directories left out, in the order of the archive's directory
  std::vector<std::unique_ptr<std::string>> unpacked;  ///< what `members` point to where they were compressed
};

/// Reads every member of an archive whose members all readers agree on: bytes in front of it, names twice,
/// members that overlap or that headers and directory disagree on are kMalformed, as is a checksum that isn't
/// right. Stored members stay in `bytes`, deflated ones are unpacked, at most `max_unpacked` bytes together
/// (kLimitSize), whatever sizes are declared. Encryption and other compressions are kUnsupported.
Expected<ZipContents> read_zip_contents(std::string_view bytes, std::uint64_t max_unpacked);

}  // namespace cachetool::container
