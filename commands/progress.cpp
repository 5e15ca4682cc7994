#include "commands/progress.h"

#include <fmt/format.h>

#include <utility>

namespace cachetool::commands {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDelay{500};
constexpr milliseconds kInterval{100};

}  // namespace

Progress::Progress(Context& context, std::string label)
    : context_(context), label_(std::move(label)), next_(Clock::now() + kDelay) {}

Progress::~Progress() {
  if (drawn_) context_.error.write("\r\x1b[K");
}

void Progress::show(std::uint64_t done, std::uint64_t total) {
  if (!context_.terminal.error) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  drawn_ = true;
  const std::string count = total == 0 ? fmt::format("{}", done) : fmt::format("{} of {}", done, total);
  context_.error.write(fmt::format("\r{}: {}\x1b[K", label_, count));
}

}  // namespace cachetool::commands
