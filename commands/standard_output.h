#pragma once

#include <cstdio>
#include <string>

#include "base/output.h"

namespace cachetool::commands {

/// A standard stream with a buffer of its own. A reader that went away (`| head`) ends the process quietly by
/// SIGPIPE; any other failure is kept for the end.
class StreamSink final : public OutputSink {
 public:
  explicit StreamSink(std::FILE* stream) : stream_(stream) {}
  void write(std::string_view bytes) override;
  void flush();
  /// errno of the first failed write, 0 when all went well.
  int failure() const { return failure_; }

 private:
  std::FILE* stream_;
  std::string buffer_;
  int failure_ = 0;
};

}  // namespace cachetool::commands
