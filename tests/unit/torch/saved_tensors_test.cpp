#include "torch/saved_tensors.h"

#include <doctest/doctest.h>

#include "pickle_text.h"
#include "unit/container/archive_bytes.h"

using namespace cachetool;
using namespace cachetool::torch;
using namespace pickle_text;

namespace {

std::string sample(std::string_view name) {
  std::ifstream file(std::string(CACHETOOL_TEST_DATA) + "/constants/" + std::string(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A result with what it points into.
struct Read {
  std::string bytes;
  container::ZipContents archive;
  Expected<SavedTensors> saved;
};

Read read(std::string bytes) {
  Read result{std::move(bytes), {}, SavedTensors{}};
  Budget budget = Budget::for_input(result.bytes.size());
  if (!result.bytes.starts_with("PK")) {
    result.saved = read_legacy_save(result.bytes, budget);
    return result;
  }
  auto archive = container::read_zip_contents(result.bytes, 1 << 20);
  if (!archive) {
    result.saved = tl::unexpected(archive.error());
    return result;
  }
  result.archive = std::move(*archive);
  result.saved = read_saved_archive(result.archive, budget);
  return result;
}

std::string storage_id(std::string_view key, std::int64_t count, std::string_view cls = "FloatStorage",
                       const std::string& view = "") {
  return persistent(tuple(text("storage"), global(cls == "UntypedStorage" ? "torch.storage" : "torch", cls),
                          text(key), text("cuda:1"), integer(count), view));
}

std::string tensor_of(const std::string& storage, std::int64_t rows = 2, std::int64_t offset = 0) {
  return call(global("torch._utils", "_rebuild_tensor_v2"), storage, integer(offset),
              tuple(integer(rows), integer(3)), tuple(integer(3), integer(1)), boolean(false),
              call(global("collections", "OrderedDict")));
}

std::string archive(const std::string& value, std::vector<test::ZipPart> more = {}) {
  std::vector<test::ZipPart> parts{{"c/data.pkl", pickle_text::pickle(value)}, {"c/byteorder", "little"}};
  parts.insert(parts.end(), more.begin(), more.end());
  return test::make_zip(parts);
}

const test::ZipPart kSix{"c/data/0", std::string(24, '\x01')};

ErrorCode code(const std::string& bytes) {
  const Read result = read(bytes);
  REQUIRE_FALSE(result.saved);
  return result.saved.error().code;
}

const SavedValue* find(const Read& result, std::string_view name) {
  for (const SavedValue& value : result.saved->values) {
    if (value.name == name) return &value;
  }
  return nullptr;
}

}  // namespace

TEST_SUITE("torch/saved_tensors") {
  TEST_CASE("what torch 2.15 writes, in both forms") {
    for (const char* name : {"many.pt", "many-legacy.pt"}) {
      CAPTURE(name);
      const Read result = read(sample(name));
      REQUIRE(result.saved);
      struct Row {
        std::string_view name, dtype;
      };
      for (const Row& row : {Row{"bool", "bool"}, Row{"int64", "int64"}, Row{"float16", "float16"},
                             Row{"bfloat16", "bfloat16"}, Row{"float8", "float8_e4m3fn"},
                             Row{"uint16", "uint16"}, Row{"complex", "complex64"}, Row{"scalar", "float32"},
                             Row{"empty", "float32"}, Row{"module.weight", "float32"},
                             Row{"nested.inner.tensor", "float32"}, Row{"ordered.one", "float32"}}) {
        CAPTURE(row.name);
        const SavedValue* value = find(result, row.name);
        REQUIRE(value != nullptr);
        REQUIRE(value->tensor);
        CHECK(value->tensor->dtype == row.dtype);
        CHECK(value->tensor->device_text() == "cpu");
      }
      const SavedValue* view = find(result, "view");
      REQUIRE(view != nullptr);
      CHECK(view->tensor->storage_offset == 7);
      CHECK(view->tensor->stride[0] == 5);
      CHECK(view->tensor->storage->bytes.data() == find(result, "base")->tensor->storage->bytes.data());
      CHECK(find(result, "parameter")->tensor->is_parameter);
      CHECK(find(result, "nested.note")->other == "a value of type str");
    }
  }

  TEST_CASE("what is no dict of names") {
    const Read result = read(sample("bare.pt"));
    REQUIRE_FALSE(result.saved);
    CHECK(result.saved.error().code == ErrorCode::kWrongType);
    CHECK(result.saved.error().message.find("a tensor without a name; expected is a dict") !=
          std::string::npos);
    CHECK(code(archive(list(integer(1)))) == ErrorCode::kWrongType);
    CHECK(code(archive(none())) == ErrorCode::kWrongType);
    CHECK(code(archive(dict(none(), integer(1)))) == ErrorCode::kWrongType);
  }

  TEST_CASE("nothing is run, and what would be is named") {
    const Read result = read(sample("harm.pt"));
    REQUIRE_FALSE(result.saved);
    CHECK(result.saved.error().code == ErrorCode::kUnsupported);
    CHECK(result.saved.error().message.find("print") != std::string::npos);
    const std::string harm = call(global("os", "system"), text("id"));
    CHECK(code(archive(dict(text("a"), harm))) == ErrorCode::kUnsupported);
    // Dropped, as an attribute, in the storage's key, and named only.
    CHECK(code(archive(harm + "0" + dict())) == ErrorCode::kUnsupported);
    CHECK(code(archive(call(global("collections", "OrderedDict")) + dict(text("x"), harm) + "b")) ==
          ErrorCode::kUnsupported);
    CHECK(code(archive(dict(text("a"), persistent(tuple(text("storage"), harm))))) ==
          ErrorCode::kUnsupported);
    CHECK(code(archive(dict(text("a"), global("posix", "system")))) == ErrorCode::kUnsupported);
  }

  TEST_CASE("storages must be there, as long as they say, and little-endian") {
    const std::string good = archive(dict(text("a"), tensor_of(storage_id("0", 6))), {kSix});
    const Read result = read(good);
    REQUIRE(result.saved);
    CHECK(result.saved->values[0].tensor->device_text() == "cuda:1");
    CHECK(
        read(archive(dict(text("a"), tensor_of(storage_id("0", 6, "FloatStorage", none()))), {kSix})).saved);
    CHECK(code(archive(dict(text("a"), tensor_of(storage_id("1", 6))), {kSix})) == ErrorCode::kMalformed);
    CHECK(code(archive(dict(text("a"), tensor_of(storage_id("0", 7))), {kSix})) == ErrorCode::kMalformed);
    CHECK(code(archive(dict(text("a"), tensor_of(storage_id("0", INT64_MAX))), {kSix})) ==
          ErrorCode::kMalformed);
    CHECK(code(archive(dict(text("a"), tensor_of(storage_id("0", -6))), {kSix})) == ErrorCode::kMalformed);
    CHECK(code(archive(dict(text("a"), tensor_of(storage_id("0", 6), 3)), {kSix})) == ErrorCode::kMalformed);
    CHECK(code(archive(dict(text("a"), tensor_of(storage_id("0", 6), 2, 1)), {kSix})) ==
          ErrorCode::kMalformed);
    const std::string big =
        test::make_zip({{"c/data.pkl", pickle_text::pickle(dict())}, {"c/byteorder", "big"}});
    CHECK(code(big) == ErrorCode::kUnsupported);
    const std::string odd =
        test::make_zip({{"c/data.pkl", pickle_text::pickle(dict())}, {"c/byteorder", "middle"}});
    CHECK(code(odd) == ErrorCode::kMalformed);
    CHECK(code(archive(dict(), {{"c/constants.pkl", ""}})) == ErrorCode::kUnsupported);
  }

  TEST_CASE("names joined by dots stay distinct, and dicts inside each other are few") {
    const std::string value = tensor_of(storage_id("0", 6));
    const std::string twice = archive(dict(text("a.b"), value, text("a"), dict(text("b"), value)), {kSix});
    CHECK(code(twice) == ErrorCode::kMalformed);
    std::string deep = value;
    for (int i = 0; i < 8; ++i) deep = dict(text("d"), deep);
    CHECK(read(archive(deep, {kSix})).saved);
    CHECK(code(archive(dict(text("d"), deep), {kSix})) == ErrorCode::kLimitDepth);
    // A dict that holds itself.
    CHECK(code(archive("}q\x01" + text("a") + "h\x01s")) == ErrorCode::kLimitDepth);
    // Seven dicts of a hundred times the next one: more names than any memory holds.
    std::string wide = "}";
    for (int level = 0; level < 7; ++level) {
      std::string items;
      for (int i = 0; i < 100; ++i) items += integer(i) + "h" + std::string(1, static_cast<char>(level));
      wide += "q" + std::string(1, static_cast<char>(level)) + "0(" + items + "d";
    }
    CHECK(code(archive(wide)) == ErrorCode::kUnsupported);  // the policy counts what a pickle unfolds to
  }

  TEST_CASE("legacy streams that lie") {
    const std::string whole = sample("frozen-legacy.pt");
    REQUIRE(read(whole).saved);
    CHECK(code(whole + "x") == ErrorCode::kMalformed);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      CAPTURE(length);
      CHECK_FALSE(read(whole.substr(0, length)).saved);
    }
    std::string magic = whole;
    magic[5] = 'x';
    CHECK(code(magic) == ErrorCode::kMalformed);
    std::string length = whole;
    length[whole.rfind(little_endian(44, 8))] = 45;  // elements of a storage
    CHECK(code(length) == ErrorCode::kMalformed);
    CHECK(code(storage("FloatStorage", "cpu", 1, "1234", false)) == ErrorCode::kUnsupported);  // big-endian
    CHECK(code(storage("FloatStorage", "cpu", 1, "1234")) == ErrorCode::kWrongType);
  }

  TEST_CASE("archives cut at every length") {
    const std::string whole = sample("frozen.pt");
    REQUIRE(read(whole).saved);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      CAPTURE(length);
      CHECK_FALSE(read(whole.substr(0, length)).saved);
    }
  }
}
