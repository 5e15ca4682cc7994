#include "commands/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>

namespace cachetool::commands {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

Terminal detect_terminal() {
  Terminal terminal;
  terminal.in = isatty(STDIN_FILENO) == 1;
  terminal.out = isatty(STDOUT_FILENO) == 1;
  terminal.error = isatty(STDERR_FILENO) == 1;
  winsize size{};
  if (terminal.out && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) terminal.width = size.ws_col;
  const std::string_view columns = environment("COLUMNS");
  std::size_t width = 0;
  const auto [end, error] = std::from_chars(columns.data(), columns.data() + columns.size(), width);
  if (error == std::errc() && end == columns.data() + columns.size()) terminal.width = width;
  return terminal;
}

report::Colors choose_colors(std::string_view when, bool is_terminal) {
  if (when == "always") return report::Colors::kOn;
  if (when == "never" || !is_terminal) return report::Colors::kOff;
  const bool refused = !environment("NO_COLOR").empty() || environment("TERM") == "dumb";
  return refused ? report::Colors::kOff : report::Colors::kOn;
}

}  // namespace cachetool::commands
