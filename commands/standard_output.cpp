#include "commands/standard_output.h"

#include <cerrno>

namespace cachetool::commands {
namespace {

constexpr std::size_t kBufferLimit = std::size_t{64} << 10;

}  // namespace

void StreamSink::write(std::string_view bytes) {
  buffer_.append(bytes);
  if (buffering_ == Buffering::kAtOnce || buffer_.size() >= kBufferLimit) flush();
}

void StreamSink::flush() {
  errno = 0;
  const bool written = std::fwrite(buffer_.data(), 1, buffer_.size(), stream_) == buffer_.size();
  const bool flushed = std::fflush(stream_) == 0;
  if (!(written && flushed) && failure_ == 0) failure_ = errno == 0 ? EIO : errno;
  buffer_.clear();
}

}  // namespace cachetool::commands
