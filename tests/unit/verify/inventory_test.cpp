#include "verify/inventory.h"

#include <doctest/doctest.h>

#include "unit/store/trees.h"

using namespace cachetool;
using namespace cachetool::verify;
using namespace store_tests;

TEST_SUITE_BEGIN("verify/inventory");

namespace {

const std::string kKey = hash_name('f', 'k');
const std::string kStem = hash_name('c', 'm');

void fill(MemoryFileSystem& fs) {
  fs.add_file("/cache/" + fx_directory(kKey) + "/" + leaf_name('b'), "22");
  fs.add_file("/cache/" + fx_directory(kKey) + "/" + leaf_name('a'), "1");
  fs.add_file("/cache/" + shard_file(kStem, "py"), "333");
  fs.add_file("/cache/fxgraph/notes", "x");
  fs.add_symlink("/cache/link", "/etc/passwd");
}

}  // namespace

TEST_CASE("every file once, those of a directory together") {
  MemoryFileSystem fs;
  fill(fs);
  const auto source = open_source(fs, "/cache");
  REQUIRE(source);
  const auto made = Inventory::make(*source);
  REQUIRE(made);
  const Inventory& inventory = *made;
  CHECK(inventory.files().size() == 4);
  for (DirectoryId id = 0; id < inventory.directories().size(); ++id) {
    const Inventory::Directory& directory = inventory.directory(id);
    CHECK(directory.first < directory.last);
    for (FileId file = directory.first; file < directory.last; ++file) {
      CHECK(inventory.file(file).directory == id);
      CHECK(inventory.find(directory.root, inventory.path(file)) == file);
    }
  }
  const auto entry = inventory.find(0, fx_directory(kKey) + "/" + leaf_name('b'));
  REQUIRE(entry);
  CHECK(inventory.file(*entry).kind == store::ArtifactKind::kFxGraphEntry);
  CHECK(inventory.file(*entry).hash->str() == leaf_name('b'));
  CHECK(inventory.file(*entry).stat.size == 2);
  CHECK(inventory.file(*entry).in_scope);
  REQUIRE(inventory.skipped().size() == 1);
  CHECK(inventory.skipped()[0].path == "link");
}

TEST_CASE("what isn't there isn't found") {
  MemoryFileSystem fs;
  fill(fs);
  const auto source = open_source(fs, "/cache");
  const auto made = Inventory::make(*source);
  REQUIRE(made);
  const Inventory& inventory = *made;
  CHECK_FALSE(inventory.find(0, "fxgraph/none"));
  CHECK_FALSE(inventory.find(0, "none/notes"));
  CHECK_FALSE(inventory.find(1, "fxgraph/notes"));
  CHECK_FALSE(inventory.find(0, ""));
  CHECK_FALSE(inventory.find_directory(0, "fxgraph/zz"));
  CHECK(inventory.find_directory(0, "fxgraph"));
}

TEST_CASE("all of the cache is taken in, what lies outside the scope is marked") {
  MemoryFileSystem fs;
  fill(fs);
  const auto source = open_source(fs, "/cache/" + fx_directory(kKey));
  REQUIRE(source);
  const auto made = Inventory::make(*source);
  REQUIRE(made);
  const Inventory& inventory = *made;
  CHECK(inventory.files().size() == 4);
  std::size_t in_scope = 0;
  for (const Inventory::File& file : inventory.files()) in_scope += file.in_scope ? 1 : 0;
  CHECK(in_scope == 2);
}

TEST_CASE("a root that can't be listed is an error") {
  MemoryFileSystem fs;
  fill(fs);
  const auto source = open_source(fs, "/cache");
  fs.set_error("/cache", ErrorCode::kPermission);
  const auto inventory = Inventory::make(*source);
  REQUIRE_FALSE(inventory);
  CHECK(inventory.error().code == ErrorCode::kPermission);
}

TEST_SUITE_END();
