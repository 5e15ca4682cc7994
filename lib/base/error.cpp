#include "base/error.h"

#include <fmt/format.h>

#include "base/text.h"

namespace cachetool {

std::string_view code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return "usage";
    case ErrorCode::kAmbiguous:
      return "key.ambiguous";
    case ErrorCode::kNoSuchKey:
      return "key.unknown";
    case ErrorCode::kNotACache:
      return "cache.none";
    case ErrorCode::kNotFound:
      return "io.not-found";
    case ErrorCode::kVanished:
      return "io.vanished";
    case ErrorCode::kPermission:
      return "io.permission";
    case ErrorCode::kNotRegular:
      return "io.not-regular";
    case ErrorCode::kMountPoint:
      return "io.mount-point";
    case ErrorCode::kExists:
      return "io.exists";
    case ErrorCode::kLocked:
      return "io.locked";
    case ErrorCode::kIo:
      return "io.error";
    case ErrorCode::kTruncated:
      return "data.truncated";
    case ErrorCode::kMalformed:
      return "data.malformed";
    case ErrorCode::kUnsupported:
      return "data.unsupported";
    case ErrorCode::kWrongType:
      return "data.wrong-type";
    case ErrorCode::kLimitMemory:
      return "limit.memory";
    case ErrorCode::kLimitSize:
      return "limit.size";
    case ErrorCode::kLimitDepth:
      return "limit.depth";
    case ErrorCode::kLimitWork:
      return "limit.work";
    case ErrorCode::kInterrupted:
      return "interrupted";
  }
  return "io.error";
}

std::string describe(const Error& error) {
  std::string text;
  if (!error.path.empty()) text += escape_for_terminal(error.path) + ": ";
  if (error.offset) text += fmt::format("offset {}: ", *error.offset);
  text += escape_for_terminal(error.message);
  text += fmt::format(" [{}]", code_name(error.code));
  return text;
}

}  // namespace cachetool
