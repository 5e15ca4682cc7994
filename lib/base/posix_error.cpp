#include "base/posix_error.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace cachetool {

ErrorCode code_of_errno(int number) {
  if (number == EWOULDBLOCK) return ErrorCode::kLocked;  // the same number as EAGAIN on Linux
  switch (number) {
    case ENOENT:
      return ErrorCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kPermission;
    case ELOOP:
    case ENOTDIR:
    case EISDIR:
    case ENXIO:
    case ENODEV:
      return ErrorCode::kNotRegular;
    case EXDEV:
      return ErrorCode::kMountPoint;
    case EEXIST:
    case ENOTEMPTY:
      return ErrorCode::kExists;
    case ENAMETOOLONG:
      return ErrorCode::kUsage;
    default:
      return ErrorCode::kIo;
  }
}

Error system_error(int number, std::string_view action, std::string path) {
  return Error{code_of_errno(number),
               fmt::format("cannot {}: {}", action, std::generic_category().message(number)),
               std::move(path),
               {},
               {}};
}

}  // namespace cachetool
