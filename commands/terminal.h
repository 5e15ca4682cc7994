#pragma once

#include <cstddef>
#include <string_view>

#include "report/style.h"

namespace cachetool::commands {

/// What is at the other end of the standard streams.
struct Terminal {
  bool in = false;        ///< standard input is a terminal: somebody can be asked
  bool out = false;       ///< standard output is a terminal
  bool error = false;     ///< standard error is one
  std::size_t width = 0;  ///< columns for tables; 0 where output is no terminal: lines may be long
};

/// Asks the system. COLUMNS, where it is a number, wins over what the terminal says and holds without one
/// too.
Terminal detect_terminal();

/// What `--color` asks for ("auto", "always", "never"). auto: on a terminal that isn't "dumb", unless
/// NO_COLOR is set.
report::Colors choose_colors(std::string_view when, bool is_terminal);

}  // namespace cachetool::commands
