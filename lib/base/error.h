#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace cachetool {

/// What went wrong, as far as a caller can act on it. Every code has a stable dotted name (see `code_name`)
/// that appears in JSON output and in documentation.
enum class ErrorCode : std::uint8_t {
  kUsage,        ///< "usage": arguments that make no sense
  kAmbiguous,    ///< "key.ambiguous": a prefix that fits several keys or leaves
  kNoSuchKey,    ///< "key.unknown": no entry of that name
  kNotACache,    ///< "cache.none": nothing in that place looks like a cache
  kNotFound,     ///< "io.not-found": no such file or directory
  kVanished,     ///< "io.vanished": was listed, is gone now (caches are live)
  kPermission,   ///< "io.permission": exists but may not be read
  kNotRegular,   ///< "io.not-regular": link, FIFO, socket or device where a file was expected
  kMountPoint,   ///< "io.mount-point": another file system below the root, not crossed
  kExists,       ///< "io.exists": a rename or creation that must not replace
  kLocked,       ///< "io.locked": somebody holds the lock
  kIo,           ///< "io.error": any other failure of the system
  kTruncated,    ///< "data.truncated": the bytes end too early
  kMalformed,    ///< "data.malformed": the bytes break the format's rules
  kUnsupported,  ///< "data.unsupported": well formed, but of a kind that isn't read
  kWrongType,    ///< "data.wrong-type": a value of another type than the format demands
  kLimitMemory,  ///< "limit.memory": would go past the memory budget
  kLimitSize,    ///< "limit.size": larger than a declared maximum
  kLimitDepth,   ///< "limit.depth": nested deeper than allowed
  kLimitWork,    ///< "limit.work": would take more steps than allowed
  kInterrupted,  ///< "interrupted": the user asked to stop
};

/// Stable dotted name of `code`, e.g. "limit.memory".
std::string_view code_name(ErrorCode code);

/// A failure that a caller can act on or a person can read. Never thrown; returned as a value.
struct Error {
  ErrorCode code = ErrorCode::kIo;
  std::string message;  ///< one sentence without a final full stop, for a person
  std::string path;     ///< the file concerned, as given by the user or below the root; may be empty
  std::optional<std::uint64_t>
      offset;        ///< byte position in that file (or in the nested payload named by `message`)
  std::string hint;  ///< what the user could do; may be empty
};

/// `path: offset N: message [code]` with parts left out that are not known; the path is escaped for a
/// terminal.
std::string describe(const Error& error);

template <class T>
using Expected = tl::expected<T, Error>;
using Status = tl::expected<void, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string path = {},
                                  std::optional<std::uint64_t> offset = {}, std::string hint = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(path), offset, std::move(hint)});
}

}  // namespace cachetool
