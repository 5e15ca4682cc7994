#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "commands/context.h"

namespace cachetool::commands {

/// A line on standard error that says how far the work is. Only on a terminal, and only once the work has
/// taken half a second; gone when it is destroyed.
class Progress {
 public:
  Progress(Context& context, std::string label);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Cheap enough to be called for every item.
  void show(std::uint64_t done, std::uint64_t total);

 private:
  using Clock = std::chrono::steady_clock;
  Context& context_;
  std::string label_;
  Clock::time_point next_;
  bool drawn_ = false;
};

}  // namespace cachetool::commands
