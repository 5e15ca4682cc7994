#include "replay/supplied_values.h"

#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "base/memory_file_system.h"
#include "unit/container/archive_bytes.h"

using namespace cachetool;
using namespace cachetool::replay;

namespace {

std::string sample(std::string_view name) {
  std::ifstream file(std::string(CACHETOOL_TEST_DATA) + "/constants/" + std::string(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string array(std::string_view descr, int count, std::size_t bytes) {
  const std::string header = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (" +
                             std::to_string(count) + ",)}\n";
  return std::string("\x93NUMPY\x01\0", 8) + test::little_bytes(header.size(), 2) + header +
         std::string(bytes, '\x01');
}

ErrorCode code(std::string bytes) {
  const auto values = SuppliedValues::of_bytes(std::move(bytes), "x");
  REQUIRE_FALSE(values);
  return values.error().code;
}

}  // namespace

TEST_SUITE("replay/supplied_values") {
  TEST_CASE("forms are told by their content") {
    struct Row {
      std::string_view file;
      SuppliedForm form;
    };
    for (const Row& row :
         {Row{"frozen.pt", SuppliedForm::kTorchSave}, Row{"frozen-legacy.pt", SuppliedForm::kTorchSave},
          Row{"frozen.npz", SuppliedForm::kNpz}, Row{"frozen-packed.npz", SuppliedForm::kNpz},
          Row{"frozen.safetensors", SuppliedForm::kSafetensors}}) {
      CAPTURE(row.file);
      MemoryFileSystem files;
      files.add_file("/d/no.suffix", sample(row.file));
      auto loaded = SuppliedValues::load(files, "/d/no.suffix");
      REQUIRE(loaded);
      const SuppliedValues values = std::move(*loaded);
      CHECK(values.form() == row.form);
      REQUIRE(values.values().size() == 3);
      for (const SuppliedValue& value : values.values()) {
        CHECK(value.tensor.dtype == "float32");
        REQUIRE(value.tensor.storage);
        if (value.name != "_frozen_param4") continue;
        CHECK(value.tensor.size[0] == 6);
        CHECK(value.tensor.size[1] == 11);
        CHECK(value.logical == (row.form != SuppliedForm::kTorchSave));
        // Element (1, 2) of a transposed ramp is 2 * 6 + 1, however it lies.
        float element = 0;
        const std::int64_t at =
            value.tensor.storage_offset + value.tensor.stride[0] + 2 * value.tensor.stride[1];
        std::memcpy(&element, value.tensor.storage->bytes.data() + at * 4, sizeof(element));
        CHECK(element == 13);
      }
    }
  }

  TEST_CASE("a directory of arrays, each called as its file") {
    MemoryFileSystem files;
    files.add_file("/d/a.npy", array("<f4", 2, 8));
    files.add_file("/d/b.c.npy", array("<u2", 3, 6));
    files.add_file("/d/meta.json", "{}");
    const auto values = SuppliedValues::load(files, "/d");
    REQUIRE(values);
    CHECK(values->form() == SuppliedForm::kNpy);
    REQUIRE(values->values().size() == 2);
    CHECK(values->values()[0].name == "a");
    CHECK(values->values()[1].name == "b.c");
    CHECK(values->values()[1].may_be_raw);
  }

  TEST_CASE("one array, and a link to it") {
    MemoryFileSystem files;
    files.add_file("/blobs/1", array("<f4", 2, 8));
    files.add_symlink("/d/w.npy", "../blobs/1");
    const auto values = SuppliedValues::load(files, "/d/w.npy");
    REQUIRE(values);
    CHECK(values->values()[0].name == "w");
  }

  TEST_CASE("what can't be read is told with its place") {
    MemoryFileSystem files;
    files.add_dir("/empty");
    files.add_file("/d/a.npy", array("<f4", 2, 7));
    files.add_special("/p/a.npy", FileType::kFifo);
    files.add_file("/big", std::string(100, 'x'));
    files.add_file("/secret", "");
    files.set_error("/secret", ErrorCode::kPermission);
    const auto check = [&](std::string_view path, ErrorCode wanted, std::string_view where,
                           SuppliedLimits limits = {}) {
      const auto values = SuppliedValues::load(files, path, limits);
      REQUIRE_FALSE(values);
      CHECK(values.error().code == wanted);
      CHECK(values.error().path == where);
    };
    check("/none", ErrorCode::kNotFound, "/none");
    check("/none/x", ErrorCode::kNotFound, "/none/x");
    check("/secret", ErrorCode::kPermission, "/secret");
    check("/empty", ErrorCode::kNotFound, "/empty");
    check("/d", ErrorCode::kTruncated, "/d/a.npy");
    check("/p", ErrorCode::kNotRegular, "/p/a.npy");
    check("/p/a.npy", ErrorCode::kNotRegular, "/p/a.npy");
    check("/big", ErrorCode::kLimitSize, "/big", {.max_bytes = 10});
    check("/d", ErrorCode::kLimitSize, "/d/a.npy", {.max_bytes = 10});
    check("/d", ErrorCode::kLimitSize, "/d", {.max_files = 0});
  }

  TEST_CASE("bytes of no known form") {
    CHECK(code("") == ErrorCode::kTruncated);
    CHECK(code("text") == ErrorCode::kUnsupported);
    CHECK(code("\x80\x04}.") == ErrorCode::kUnsupported);
    CHECK(code(test::make_zip({{"a.txt", "x"}})) == ErrorCode::kUnsupported);
    CHECK(code(test::make_zip({{"a.npy", "x"}})) == ErrorCode::kMalformed);
    CHECK(code(test::make_zip({{"a.npy", array("<f4", 1, 4)}, {"a.npy", array("<f4", 1, 4)}})) ==
          ErrorCode::kMalformed);
  }

  TEST_CASE("an archive that unpacks to much more than it holds") {
    std::string zeros = array("<f4", 4 << 20, 0) + std::string(std::size_t{16} << 20, '\0');
    CHECK(code(test::make_zip({{"a.npy", zeros, true}})) == ErrorCode::kLimitSize);
    const SuppliedLimits limits{.max_memory = std::uint64_t{64} << 20};
    CHECK(SuppliedValues::of_bytes(test::make_zip({{"a.npy", zeros, true}}), "x", limits));
  }

  TEST_CASE("names that are no text stay as they are") {
    const auto values = SuppliedValues::of_bytes(test::make_zip({{"\xff\n.npy", array("<f4", 1, 4)}}), "x");
    REQUIRE(values);
    CHECK(values->values()[0].name == "\xff\n");
  }

  TEST_CASE("real files cut at every length") {
    for (const char* name : {"frozen.npz", "frozen-packed.npz", "frozen.safetensors", "version2.npy"}) {
      CAPTURE(name);
      const std::string whole = sample(name);
      REQUIRE(SuppliedValues::of_bytes(whole, "x"));
      for (std::size_t length = 0; length < whole.size(); ++length) {
        CAPTURE(length);
        CHECK_FALSE(SuppliedValues::of_bytes(whole.substr(0, length), "x"));
      }
    }
  }
}
