#pragma once

#include <cstdio>
#include <string>

#include "base/output.h"

namespace cachetool::commands {

/// When bytes go out.
enum class Buffering : bool { kWhenFull, kAtOnce };

/// A standard stream with a buffer of its own. A reader that went away (`| head`) ends the process quietly by
/// SIGPIPE; any other failure is kept for the end.
class StreamSink final : public OutputSink {
 public:
  StreamSink(std::FILE* stream, Buffering buffering) : stream_(stream), buffering_(buffering) {}
  void write(std::string_view bytes) override;
  void flush();
  /// errno of the first failed write, 0 when all went well.
  int failure() const { return failure_; }

 private:
  std::FILE* stream_;
  Buffering buffering_;
  std::string buffer_;
  int failure_ = 0;
};

}  // namespace cachetool::commands
