#include "torch/tensor.h"

#include <doctest/doctest.h>

#include "base/budget.h"
#include "pickle/document.h"
#include "pickle_text.h"

using namespace cachetool;
using namespace cachetool::torch;
using namespace pickle_text;

namespace {

struct Held {
  pickle::Document document;
  std::optional<Tensor> tensor;
};

Held decode(const std::string& value) {
  const std::string bytes = pickle_text::pickle(value);
  Budget budget = Budget::for_input(bytes.size());
  auto document = pickle::parse_owned(bytes, budget);
  REQUIRE(document);
  Held held{std::move(*document), {}};
  held.tensor = decode_tensor(held.document.root(), budget);
  return held;
}

Expected<StorageView> read(std::string_view stream) {
  Budget budget = Budget::for_input(stream.size());
  return read_storage(stream, budget);
}

const std::string kElements(24, '\x01');

}  // namespace

TEST_SUITE_BEGIN("torch/tensor");

TEST_CASE("a storage stream gives its elements") {
  const std::string stream = storage("FloatStorage", "cpu", 6, kElements);
  const auto view = read(stream);
  REQUIRE(view);
  CHECK(view->dtype == "float32");
  CHECK(view->location == "cpu");
  CHECK(view->bytes == kElements);
  CHECK(view->byte_order == ByteOrder::kLittle);
  const std::string big = storage("FloatStorage", "cpu", 6, kElements, false);
  CHECK(read(big)->byte_order == ByteOrder::kBig);
}

TEST_CASE("an untyped storage counts bytes") {
  const std::string stream = storage("UntypedStorage", "cuda:1", 24, kElements);
  const auto view = read(stream);
  REQUIRE(view);
  CHECK(view->dtype.empty());
  CHECK(view->bytes.size() == 24);
}

TEST_CASE("every cut of a storage stream is a clean error") {
  const std::string stream = storage("FloatStorage", "cpu", 6, kElements);
  for (std::size_t length = 0; length < stream.size(); ++length) {
    CAPTURE(length);
    CHECK_FALSE(read(std::string_view(stream).substr(0, length)));
  }
}

TEST_CASE("storages that contradict themselves are refused") {
  CHECK(read(storage("FloatStorage", "cpu", 7, kElements)).error().code == ErrorCode::kTruncated);
  CHECK(read(storage("NoStorage", "cpu", 6, kElements)).error().code == ErrorCode::kUnsupported);
  CHECK(read("\x80\x02K\x01.").error().code == ErrorCode::kMalformed);
  std::string lied = storage("FloatStorage", "cpu", 6, kElements);
  lied[lied.size() - kElements.size() - 8] = 5;
  CHECK(read(lied).error().code == ErrorCode::kMalformed);
}

TEST_CASE("a zip archive is recognised") {
  const auto view = read("PK\x03\x04rest");
  REQUIRE(view);
  CHECK(view->zip);
}

TEST_CASE("a strided tensor") {
  const Held held = decode(tensor(storage("FloatStorage", "cuda:0", 6, kElements)));
  REQUIRE(held.tensor);
  CHECK(held.tensor->dtype == "float32");
  CHECK(held.tensor->device_text() == "cuda:0");
  CHECK(held.tensor->size[1] == 3);
  CHECK(held.tensor->stride[0] == 3);
  CHECK(held.tensor->storage->bytes.size() == 24);
  CHECK(held.tensor->problem.empty());
}

TEST_CASE("a tensor that reaches outside of its storage has a problem") {
  CHECK_FALSE(decode(tensor(storage("FloatStorage", "cpu", 6, kElements), 1)).tensor->problem.empty());
  CHECK_FALSE(decode(tensor(storage("FloatStorage", "cpu", 6, kElements), -1)).tensor->problem.empty());
  CHECK_FALSE(
      decode(tensor(storage("FloatStorage", "cpu", 6, kElements), INT64_MAX)).tensor->problem.empty());
  CHECK_FALSE(decode(tensor("broken")).tensor->problem.empty());
}

TEST_CASE("a parameter wraps a tensor once") {
  const std::string inner = tensor(storage("FloatStorage", "cpu", 6, kElements));
  const auto wrap = [](const std::string& data) {
    return call(global("torch._utils", "_rebuild_parameter"), data, boolean(true), none());
  };
  const Held held = decode(wrap(inner));
  REQUIRE(held.tensor);
  CHECK(held.tensor->is_parameter);
  CHECK(held.tensor->requires_grad);
  CHECK_FALSE(decode(wrap(wrap(inner))).tensor);
}

TEST_CASE("newer dtypes name themselves beside an untyped storage") {
  const Held held = decode(call(global("torch._utils", "_rebuild_tensor_v3"),
                                call(global("torch.storage", "_load_from_bytes"),
                                     bytes(storage("UntypedStorage", "cpu", 6, std::string(6, '\2')))),
                                integer(0), tuple(integer(6)), tuple(integer(1)), boolean(false), none(),
                                global("torch", "float8_e5m2")));
  REQUIRE(held.tensor);
  CHECK(held.tensor->dtype == "float8_e5m2");
  CHECK(held.tensor->problem.empty());
}

TEST_CASE("kinds without elements") {
  const Held meta =
      decode(call(global("torch._utils", "_rebuild_meta_tensor_no_storage"), global("torch", "float16"),
                  tuple(integer(4)), tuple(integer(1)), boolean(false)));
  REQUIRE(meta.tensor);
  CHECK(meta.tensor->kind == TensorKind::kMeta);
  CHECK(meta.tensor->dtype == "float16");
  CHECK_FALSE(meta.tensor->storage);
  const Held wrapper =
      decode(call(global("torch._utils", "_rebuild_wrapper_subclass"), global("m", "T"),
                  global("torch", "float32"), tuple(integer(4)), tuple(integer(1)), integer(0), none(),
                  call(global("torch", "device"), text("cuda"), integer(1)), boolean(false)));
  REQUIRE(wrapper.tensor);
  CHECK(wrapper.tensor->device_text() == "cuda:1");
}

TEST_CASE("other calls and arguments of other types are no tensors") {
  CHECK_FALSE(decode(call(global("torch._utils", "_rebuild_tensor_v2"), integer(1))).tensor);
  CHECK_FALSE(decode(call(global("torch._utils", "_rebuild_parameter"))).tensor);
  CHECK_FALSE(decode(call(global("os", "system"), text("true"))).tensor);
  CHECK_FALSE(decode(integer(1)).tensor);
}

TEST_SUITE_END();
