#include "container/npy.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "container/python_literal.h"
#include "container/shape.h"

namespace cachetool::container {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::uint64_t kMaxHeader = 64 << 10;
constexpr std::size_t kMaxDimensions = 64;  // numpy 2's own limit

struct NumpyType {
  std::string_view code;  // without the byte order
  std::string_view dtype;
  unsigned bytes;
};

constexpr NumpyType kTypes[] = {
    {"b1", "bool", 1},      {"i1", "int8", 1},         {"i2", "int16", 2},   {"i4", "int32", 4},
    {"i8", "int64", 8},     {"u1", "uint8", 1},        {"u2", "uint16", 2},  {"u4", "uint32", 4},
    {"u8", "uint64", 8},    {"f2", "float16", 2},      {"f4", "float32", 4}, {"f8", "float64", 8},
    {"c8", "complex64", 8}, {"c16", "complex128", 16}, {"V1", "raw8", 1},    {"V2", "raw16", 2},
};

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

tl::unexpected<Error> bad_header(std::string text, std::uint64_t offset) {
  return fail(ErrorCode::kMalformed, "the header of the array " + std::move(text), {}, offset);
}

struct Header {
  std::string_view text;
  std::uint64_t offset = 0;  ///< of the text
  std::uint64_t data = 0;    ///< of the elements
};

Expected<Header> find_header(std::string_view bytes) {
  if (!starts_as_npy(bytes)) return fail(ErrorCode::kMalformed, "not a .npy file", {}, 0);
  constexpr std::size_t kVersion = kMagic.size();
  if (bytes.size() < kVersion + 2)
    return fail(ErrorCode::kTruncated, "the array ends inside its header", {}, bytes.size());
  const auto major = static_cast<unsigned char>(bytes[kVersion]);
  const auto minor = static_cast<unsigned char>(bytes[kVersion + 1]);
  if (major < 1 || major > 3 || minor != 0)
    return fail(ErrorCode::kUnsupported, fmt::format("a .npy file of version {}.{}", major, minor), {},
                kVersion);
  Header header;
  const std::size_t width = major == 1 ? 2 : 4;
  header.offset = kVersion + 2 + width;
  if (bytes.size() < header.offset)
    return fail(ErrorCode::kTruncated, "the array ends inside its header", {}, bytes.size());
  const std::uint64_t length = little_endian(bytes.substr(kVersion + 2, width));
  if (length > kMaxHeader)
    return fail(ErrorCode::kLimitSize, fmt::format("an array's header of more than {} bytes", kMaxHeader), {},
                kVersion + 2);
  if (length > bytes.size() - header.offset)
    return fail(ErrorCode::kTruncated, "the array ends inside its header", {}, bytes.size());
  header.text = bytes.substr(header.offset, length);
  header.data = header.offset + length;
  return header;
}

Expected<NumpyType> type_of(const Node& descr, std::uint64_t offset) {
  if (!descr.is(NodeKind::kString))
    return fail(ErrorCode::kUnsupported, "the array's elements are structures", {}, offset);
  const std::string_view text = descr.text();
  if (text == "|O") return fail(ErrorCode::kUnsupported, "the array holds pickled objects", {}, offset);
  const std::string_view order("<>|=");
  if (text.size() < 2 || order.find(text[0]) == std::string_view::npos)
    return bad_header("names no element type", offset);
  for (const NumpyType& type : kTypes) {
    if (type.code != text.substr(1)) continue;
    const bool no_order = type.bytes == 1 || type.code[0] == 'V';
    if (text[0] == '>' && !no_order)
      return fail(ErrorCode::kUnsupported, "the array's elements are big-endian", {}, offset);
    if (text[0] != '<' && !no_order) return bad_header("names no byte order", offset);
    return type;
  }
  return fail(ErrorCode::kUnsupported,
              fmt::format("the array's elements are of numpy's type {}", escape_for_terminal(text)), {},
              offset);
}

Expected<std::vector<std::int64_t>> size_of(const Node& shape, std::uint64_t offset) {
  if (!shape.is(NodeKind::kTuple)) return bad_header("has a shape that is no tuple", offset);
  if (shape.size() > kMaxDimensions) return bad_header("has too many dimensions", offset);
  std::vector<std::int64_t> size;
  for (auto item = shape.first(); item; item = item->next()) {
    if (!item->is(NodeKind::kInteger) || item->as_integer() < 0)
      return bad_header("has a shape with something else than counts", offset);
    size.push_back(item->as_integer());
  }
  return size;
}

}  // namespace

bool starts_as_npy(std::string_view bytes) {
  return bytes.starts_with(kMagic);
}

Expected<NpyArray> read_npy(std::string_view bytes) {
  const auto header = find_header(bytes);
  if (!header) return tl::unexpected(header.error());
  auto tree = read_python_literal(header->text);
  if (!tree) {
    Error error = std::move(tree.error());
    if (error.code == ErrorCode::kTruncated)
      error.code = ErrorCode::kMalformed;  // the file doesn't end there
    error.message = "the header of the array is no Python literal: " + error.message;
    error.offset = header->offset + error.offset.value_or(0);
    return tl::unexpected<Error>(std::move(error));
  }
  const Node root = tree->root();
  if (!root.is(NodeKind::kMap) || root.size() != 3 || tree->duplicate_keys() != 0)
    return bad_header("isn't a dict of descr, fortran_order and shape", header->offset);
  const auto descr = root.find("descr");
  const auto columns = root.find("fortran_order");
  const auto shape = root.find("shape");
  if (!descr || !columns || !shape || !columns->is(NodeKind::kBool))
    return bad_header("isn't a dict of descr, fortran_order and shape", header->offset);
  const auto type = type_of(*descr, header->offset);
  if (!type) return tl::unexpected(type.error());
  auto size = size_of(*shape, header->offset);
  if (!size) return tl::unexpected(size.error());

  NpyArray array;
  array.dtype = type->dtype;
  array.size = std::move(*size);
  array.bytes = bytes.substr(header->data);
  const auto wanted = bytes_for(array.size, type->bytes);
  if (!wanted || *wanted > array.bytes.size())
    return fail(ErrorCode::kTruncated, "the array ends before its last element", {}, bytes.size());
  if (*wanted < array.bytes.size())
    return fail(ErrorCode::kMalformed, "bytes follow the array's last element", {}, header->data + *wanted);
  array.stride = columns->as_bool() ? column_strides(array.size) : row_strides(array.size);
  return array;
}

}  // namespace cachetool::container
