#include <array>
#include <cstring>

#include <fmt/format.h>

#include "pickle/document.h"
#include "torch/plain.h"
#include "torch/tensor.h"

namespace cachetool::torch {

using pickle::Tag;
using pickle::Value;

namespace {

struct NamedType {
  std::string_view name;
  std::string_view dtype;
};

// torch/__init__.py: the storage classes that a legacy stream may name.
constexpr NamedType kStorageClasses[] = {
    {"FloatStorage", "float32"},
    {"DoubleStorage", "float64"},
    {"HalfStorage", "float16"},
    {"BFloat16Storage", "bfloat16"},
    {"LongStorage", "int64"},
    {"IntStorage", "int32"},
    {"ShortStorage", "int16"},
    {"CharStorage", "int8"},
    {"ByteStorage", "uint8"},
    {"BoolStorage", "bool"},
    {"ComplexFloatStorage", "complex64"},
    {"ComplexDoubleStorage", "complex128"},
    {"QInt8Storage", "qint8"},
    {"QUInt8Storage", "quint8"},
    {"QInt32Storage", "qint32"},
    {"QUInt4x2Storage", "quint4x2"},
    {"QUInt2x4Storage", "quint2x4"},
};

struct TypeSize {
  std::string_view dtype;
  std::uint64_t bytes;
};

constexpr TypeSize kTypeSizes[] = {
    {"float32", 4},         {"float64", 8},
    {"float16", 2},         {"bfloat16", 2},
    {"int64", 8},           {"int32", 4},
    {"int16", 2},           {"int8", 1},
    {"uint8", 1},           {"bool", 1},
    {"uint16", 2},          {"uint32", 4},
    {"uint64", 8},          {"complex32", 4},
    {"complex64", 8},       {"complex128", 16},
    {"float8_e4m3fn", 1},   {"float8_e5m2", 1},
    {"float8_e4m3fnuz", 1}, {"float8_e5m2fnuz", 1},
    {"float8_e8m0fnu", 1},  {"float4_e2m1fn_x2", 1},
    {"qint8", 1},           {"quint8", 1},
    {"qint32", 4},          {"quint4x2", 1},
    {"quint2x4", 1},        {"bits8", 1},
    {"bits16", 2},
};

/// Takes one pickle from the front of `rest`.
Expected<pickle::Document> take_pickle(std::string_view& rest, std::string_view whole, Budget& budget) {
  auto document = pickle::parse(rest, budget);
  if (!document) {
    document.error().offset = document.error().offset.value_or(0) + (whole.size() - rest.size());
    document.error().message = "in a tensor's storage: " + document.error().message;
    return document;
  }
  rest.remove_prefix(document->end());
  return document;
}

tl::unexpected<Error> malformed(std::string message) {
  return fail(ErrorCode::kMalformed, "a tensor's storage " + std::move(message));
}

}  // namespace

std::optional<std::string_view> storage_class_dtype(const pickle::GlobalNode& cls) {
  if (cls.module == "torch.storage" && cls.name == "UntypedStorage") return std::string_view{};
  if (cls.module != "torch" && cls.module != "torch.cuda") return std::nullopt;
  for (const NamedType& type : kStorageClasses) {
    if (type.name == cls.name) return type.dtype;
  }
  return std::nullopt;
}

std::uint64_t dtype_size(std::string_view dtype) {
  for (const TypeSize& type : kTypeSizes) {
    if (type.dtype == dtype) return type.bytes;
  }
  return 0;
}

Expected<StorageView> read_storage(std::string_view bytes, Budget& budget) {
  StorageView view;
  if (bytes.starts_with("PK\x03\x04")) {
    view.zip = true;
    view.bytes = bytes;
    return view;
  }
  std::string_view rest = bytes;

  auto magic = take_pickle(rest, bytes, budget);
  if (!magic) return tl::unexpected(magic.error());
  constexpr std::string_view kMagic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);
  if (!magic->root().is(Tag::kBigInt) || magic->root().bytes() != kMagic)
    return malformed("lacks torch.save's magic number");

  auto version = take_pickle(rest, bytes, budget);
  if (!version) return tl::unexpected(version.error());
  if (!version->root().is(Tag::kInt) || version->root().as_int() != 1001) {
    return fail(ErrorCode::kUnsupported, "a tensor's storage has a protocol version other than 1001");
  }

  auto system = take_pickle(rest, bytes, budget);
  if (!system) return tl::unexpected(system.error());
  if (!system->root().is(Tag::kDict)) return malformed("says nothing about the system that wrote it");
  const Value* little = pickle::find(system->root().dict(), "little_endian");
  if (little != nullptr && little->is(Tag::kBool) && !little->as_bool()) view.byte_order = ByteOrder::kBig;

  auto object = take_pickle(rest, bytes, budget);
  if (!object) return tl::unexpected(object.error());
  if (!object->root().is(Tag::kPersistent) || !object->root().persistent().id.is(Tag::kTuple)) {
    return malformed("is not what the stream holds");
  }
  const auto id = object->root().persistent().id.tuple().items();
  if (id.size() < 5 || pickle::text_or(id[0]) != "storage" || !id[1].is(Tag::kGlobal) ||
      !id[3].is(Tag::kString) || !id[4].is(Tag::kInt)) {
    return malformed("is described by other values than torch writes");
  }
  const auto dtype = storage_class_dtype(id[1].global());
  if (!dtype) {
    return fail(ErrorCode::kUnsupported, fmt::format("a tensor's storage is of the unknown class {}.{}",
                                                     id[1].global().module, id[1].global().name));
  }
  if (id.size() > 5 && !id[5].is_none()) {
    return fail(ErrorCode::kUnsupported, "a tensor's storage is a view of another one");
  }
  view.dtype = *dtype;
  view.location = id[3].bytes();

  auto keys = take_pickle(rest, bytes, budget);
  if (!keys) return tl::unexpected(keys.error());
  if (!keys->root().is(Tag::kList) || keys->root().list().size != 1)
    return malformed("is not alone in its stream");

  // Then the number of elements (of bytes, for an UntypedStorage) and the elements, both little-endian.
  if (rest.size() < sizeof(std::int64_t))
    return fail(ErrorCode::kTruncated, "a tensor's storage ends before its length");
  std::uint64_t count = 0;
  for (std::size_t i = sizeof(std::int64_t); i-- > 0;)
    count = (count << 8) | static_cast<unsigned char>(rest[i]);
  rest.remove_prefix(sizeof(std::int64_t));
  const std::uint64_t element = dtype->empty() ? 1 : dtype_size(*dtype);
  if (id[4].as_int() < 0 || count != static_cast<std::uint64_t>(id[4].as_int())) {
    return malformed("has two different lengths");
  }
  if (count > rest.size() / element)
    return fail(ErrorCode::kTruncated, "a tensor's storage ends before its last element");
  view.bytes = rest.substr(0, count * element);
  return view;
}

}  // namespace cachetool::torch
