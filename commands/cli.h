#pragma once

namespace cachetool::commands {

/// Parses the command line, runs one subcommand and returns the exit code (docs/manual.md, "Exit status").
int run(int argc, char** argv);

}  // namespace cachetool::commands
