#include <malloc.h>

#include <csignal>

#include "commands/cli.h"

int main(int argc, char** argv) {
  // Buffers and arenas come and go with every entry: giving their pages back each time costs more than
  // reading them.
  constexpr int kKeepBytes = 8 << 20;
  mallopt(M_MMAP_THRESHOLD, kKeepBytes);
  mallopt(M_TRIM_THRESHOLD, kKeepBytes);
  // A reader that goes away (`| head`) ends the process quietly, also where the parent ignores the signal.
  std::signal(SIGPIPE, SIG_DFL);
  return cachetool::commands::run(argc, argv);
}
