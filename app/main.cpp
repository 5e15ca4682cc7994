#include <csignal>

#include "commands/cli.h"

int main(int argc, char** argv) {
  // A reader that goes away (`| head`) ends the process quietly, also where the parent ignores the signal.
  std::signal(SIGPIPE, SIG_DFL);
  return cachetool::commands::run(argc, argv);
}
