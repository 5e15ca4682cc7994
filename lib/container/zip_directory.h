#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace cachetool::container {

inline constexpr std::uint16_t kZipStored = 0;
inline constexpr std::uint16_t kZipDeflated = 8;
inline constexpr std::uint16_t kZipZstd = 93;

/// One member as the central directory lists it.
struct ZipRecord {
  std::string_view name;  ///< as stored, any bytes
  std::uint16_t flags = 0;
  std::uint16_t method = kZipStored;
  std::uint32_t crc = 0;          ///< CRC-32 of the unpacked bytes, as declared
  std::uint64_t size = 0;         ///< unpacked, as declared
  std::uint64_t data_offset = 0;  ///< of the packed bytes, in the file
  std::string_view data;          ///< the packed bytes, as far as they lie inside the file

  bool is_directory() const { return name.ends_with('/'); }
  bool is_encrypted() const { return (flags & 1) != 0; }
};

/// A place where readers of zip archives come to different members or contents.
struct ZipProblem {
  std::uint64_t offset = 0;
  std::string text;  ///< a clause for a person
};

struct ZipDirectory {
  std::vector<ZipRecord> records;
  std::vector<ZipProblem> problems;  ///< at most kMaxZipProblems
};

inline constexpr std::size_t kMaxZipProblems = 16;

/// True when `bytes` starts as a zip archive does: with a member, or as an empty one.
bool starts_as_zip(std::string_view bytes);

/// True when the end of `bytes` looks like that of a zip archive, whatever comes first: readers look there.
bool ends_as_zip(std::string_view bytes);

/// Reads the central directory of a zip archive in memory (zip64 too) and compares it with each member's own
/// header: Python's zipfile and torch (miniz) believe the directory, streaming readers and scanners the
/// headers. What disagrees, overlaps, has the same name twice, or isn't listed, is a problem and no error.
/// Nothing is unpacked. Errors: kMalformed and kTruncated with the offset, kLimitSize past `max_records`.
/// Linear.
Expected<ZipDirectory> read_zip_directory(std::string_view bytes, std::size_t max_records = 100'000);

}  // namespace cachetool::container
