#pragma once

#include <functional>

#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/exit_code.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library names it so
class App;
}

namespace cachetool::commands {

/// What the command line asked for.
struct Invocation {
  std::function<ExitCode(Context&)> run;  ///< empty until a subcommand was parsed
};

// One per subcommand, each in the file of its name: defines the subcommand's options on `app`; parsing it
// fills `invocation`.
void add_cudagraphs(CLI::App& app, Invocation& invocation);
void add_list(CLI::App& app, Invocation& invocation);
void add_replay(CLI::App& app, Invocation& invocation);
void add_scan(CLI::App& app, Invocation& invocation);
void add_show(CLI::App& app, Invocation& invocation);
void add_stats(CLI::App& app, Invocation& invocation);
void add_verify(CLI::App& app, Invocation& invocation);
void add_doctor(CLI::App& app, Invocation& invocation);
void add_which(CLI::App& app, Invocation& invocation);

}  // namespace cachetool::commands
