#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <filesystem>

// Tests name their data relative to the sources' root, wherever they are started from; only this file knows
// where that is, so no other has to be compiled again for another checkout.
int main(int argc, char** argv) {
  std::filesystem::current_path(CACHETOOL_SOURCE_DIR);
  return doctest::Context(argc, argv).run();
}
