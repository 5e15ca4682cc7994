#pragma once

#include <string_view>

#include "base/error.h"
#include "commands/context.h"
#include "commands/exit_code.h"

namespace cachetool::commands {

/// How a failure is told: a line for a person, or a JSON document.
enum class ErrorForm : bool { kText, kJson };

/// Says on standard error what went wrong: `cachetool: path: message` and a hint, or, where JSON was asked
/// for, one cachetool.error/1 document on a line. Returns the code that the failure stands for.
ExitCode report_error(Context& context, const Error& error, ErrorForm form);

}  // namespace cachetool::commands
