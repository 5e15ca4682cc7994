#pragma once

#include <string>

#include "commands/context.h"

namespace cachetool::commands {

/// The text that an argument stands for: itself, or what the file holds that follows an `@` (at most 1 MiB;
/// one final newline is left out). The error names the file.
Expected<std::string> text_argument(Context& context, const std::string& argument);

}  // namespace cachetool::commands
