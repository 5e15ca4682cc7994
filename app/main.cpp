#include "commands/cli.h"

int main(int argc, char** argv) {
  return cachetool::commands::run(argc, argv);
}
