#include "base/posix_host_file_system.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/posix_error.h"

namespace cachetool {
namespace {

class PosixHost final : public HostSystem {
 public:
  CpuFacts cpu() override { return this_cpu(); }

  Expected<bool> may_create(const std::string& directory) override {
    if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return true;
    if (errno == EACCES || errno == EPERM || errno == EROFS) return false;
    return tl::unexpected(system_error(errno, "ask for access", directory));
  }
};

}  // namespace

std::unique_ptr<HostSystem> make_posix_host() {
  return std::make_unique<PosixHost>();
}

}  // namespace cachetool
