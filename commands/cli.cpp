#include "commands/cli.h"

#include <CLI/CLI.hpp>

namespace cachetool::commands {

int run(int argc, char** argv) {
  CLI::App app("Inspects and maintains the caches of torch.compile without Python, torch or a GPU.",
               "cachetool");
  app.set_version_flag("--version", CACHETOOL_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return 0;
}

}  // namespace cachetool::commands
