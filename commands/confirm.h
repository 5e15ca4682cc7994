#pragma once

#include <string_view>

#include "commands/context.h"

namespace cachetool::commands {

/// Whether somebody wants the change.
enum class Consent {
  kGiven,
  kRefused,   ///< asked, and the answer wasn't yes
  kNotAsked,  ///< nobody is there to be asked
};

/// For every command that changes something: `question` ("Move 3 files into quarantine?") goes to the
/// terminal and "y" or "yes" consents. Where standard input or standard error is no terminal nobody is asked.
Consent ask(Context& context, std::string_view question);

}  // namespace cachetool::commands
