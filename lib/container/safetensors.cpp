#include "container/safetensors.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "container/json.h"
#include "container/shape.h"

namespace cachetool::container {
namespace {

constexpr std::size_t kLengthSize = 8;
constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::size_t kMaxDimensions = 64;

struct NamedType {
  std::string_view name;
  std::string_view dtype;
  unsigned bytes;
};

constexpr NamedType kTypes[] = {
    {"BOOL", "bool", 1},
    {"U8", "uint8", 1},
    {"I8", "int8", 1},
    {"U16", "uint16", 2},
    {"I16", "int16", 2},
    {"U32", "uint32", 4},
    {"I32", "int32", 4},
    {"U64", "uint64", 8},
    {"I64", "int64", 8},
    {"F16", "float16", 2},
    {"BF16", "bfloat16", 2},
    {"F32", "float32", 4},
    {"F64", "float64", 8},
    {"C64", "complex64", 8},
    {"F8_E4M3", "float8_e4m3fn", 1},
    {"F8_E5M2", "float8_e5m2", 1},
    {"F8_E4M3FNUZ", "float8_e4m3fnuz", 1},
    {"F8_E5M2FNUZ", "float8_e5m2fnuz", 1},
    {"F8_E8M0", "float8_e8m0fnu", 1},
};

std::uint64_t header_length(std::string_view bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = kLengthSize; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  return length;
}

tl::unexpected<Error> malformed(std::string_view name, std::string_view text) {
  return fail(ErrorCode::kMalformed, fmt::format("tensor '{}' {}", escape_for_terminal(name), text), {},
              kLengthSize);
}

/// A tensor and where its elements lie, counted from the end of the header.
struct Placed {
  SafeTensor tensor;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

bool read_counts(const Node& list, std::vector<std::int64_t>& counts) {
  for (auto item = list.first(); item; item = item->next()) {
    if (!item->is(NodeKind::kInteger) || item->as_integer() < 0) return false;
    counts.push_back(item->as_integer());
  }
  return true;
}

Expected<Placed> read_entry(std::string_view name, const Node& entry, std::uint64_t available) {
  if (!entry.is(NodeKind::kMap)) return malformed(name, "is described by something else than an object");
  const auto dtype = entry.find("dtype");
  const auto shape = entry.find("shape");
  const auto offsets = entry.find("data_offsets");
  if (entry.size() != 3 || !dtype || !shape || !offsets || !dtype->is(NodeKind::kString) ||
      !shape->is(NodeKind::kList) || !offsets->is(NodeKind::kList) || offsets->size() != 2)
    return malformed(name, "isn't described by dtype, shape and data_offsets");
  const auto* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const NamedType& known) { return known.name == dtype->text(); });
  if (type == std::end(kTypes))
    return fail(ErrorCode::kUnsupported,
                fmt::format("tensor '{}' is of the unknown dtype {}", escape_for_terminal(name),
                            escape_for_terminal(dtype->text())),
                {}, kLengthSize);
  Placed placed;
  placed.tensor.name = name;
  placed.tensor.dtype = type->dtype;
  std::vector<std::int64_t> place;
  if (shape->size() > kMaxDimensions || !read_counts(*shape, placed.tensor.size) ||
      !read_counts(*offsets, place))
    return malformed(name, "has a shape or offsets that are no counts");
  placed.begin = static_cast<std::uint64_t>(place[0]);
  placed.end = static_cast<std::uint64_t>(place[1]);
  if (placed.end < placed.begin) return malformed(name, "ends before it begins");
  if (placed.end > available)
    return fail(ErrorCode::kTruncated,
                fmt::format("tensor '{}' ends behind the end of the file", escape_for_terminal(name)), {},
                kLengthSize);
  const auto wanted = bytes_for(placed.tensor.size, type->bytes);
  if (!wanted || *wanted != placed.end - placed.begin)
    return malformed(name, "has a place of another size than its shape and dtype need");
  return placed;
}

/// Every byte of the elements belongs to one tensor.
Status check_places(const std::vector<Placed>& all, std::uint64_t available, std::uint64_t data) {
  std::uint64_t end = 0;
  for (const Placed& placed : all) {
    if (placed.begin < end) return malformed(placed.tensor.name, "overlaps another one");
    if (placed.begin > end) return malformed(placed.tensor.name, "follows bytes that belong to none");
    end = placed.end;
  }
  if (end != available)
    return fail(ErrorCode::kMalformed, "bytes behind the last tensor belong to none", {}, data + end);
  return {};
}

}  // namespace

bool looks_like_safetensors(std::string_view bytes) {
  if (bytes.size() <= kLengthSize || bytes[kLengthSize] != '{') return false;
  const std::uint64_t length = header_length(bytes);
  return length <= kMaxHeader || length <= bytes.size() - kLengthSize;
}

Expected<std::vector<SafeTensor>> read_safetensors(std::string_view bytes) {
  if (bytes.size() < kLengthSize)
    return fail(ErrorCode::kTruncated, "the file ends inside the length of its header", {}, bytes.size());
  const std::uint64_t length = header_length(bytes);
  if (length > kMaxHeader)
    return fail(ErrorCode::kLimitSize, fmt::format("a safetensors header of more than {} bytes", kMaxHeader),
                {}, 0);
  if (length > bytes.size() - kLengthSize)
    return fail(ErrorCode::kTruncated, "the file ends inside its header", {}, bytes.size());
  const std::string_view header = bytes.substr(kLengthSize, length);
  const std::uint64_t data = kLengthSize + length;
  const std::uint64_t available = bytes.size() - data;
  TreeLimits limits;
  limits.max_bytes = kMaxHeader;
  limits.max_depth = 8;
  auto tree = read_json(header, limits);
  if (!tree) {
    Error error = std::move(tree.error());
    if (error.code == ErrorCode::kTruncated)
      error.code = ErrorCode::kMalformed;  // the file doesn't end there
    error.message = "the safetensors header: " + error.message;
    error.offset = kLengthSize + error.offset.value_or(0);
    return tl::unexpected<Error>(std::move(error));
  }
  const Node root = tree->root();
  if (!root.is(NodeKind::kMap) || !header.starts_with('{'))
    return fail(ErrorCode::kMalformed, "the safetensors header is no JSON object", {}, kLengthSize);
  if (tree->duplicate_keys() != 0)
    return fail(ErrorCode::kMalformed, "the safetensors header has a name twice", {}, kLengthSize);

  std::vector<Placed> all;
  for (auto key = root.first(); key;) {
    const auto value = key->next();
    if (key->text() != "__metadata__") {
      auto placed = read_entry(key->text(), *value, available);
      if (!placed) return tl::unexpected(placed.error());
      all.push_back(std::move(*placed));
    }
    key = value->next();
  }
  std::sort(all.begin(), all.end(), [](const Placed& a, const Placed& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  if (const auto done = check_places(all, available, data); !done) return tl::unexpected(done.error());
  std::vector<SafeTensor> tensors;
  tensors.reserve(all.size());
  for (Placed& placed : all) {
    placed.tensor.bytes = bytes.substr(data + placed.begin, placed.end - placed.begin);
    tensors.push_back(std::move(placed.tensor));
  }
  return tensors;
}

}  // namespace cachetool::container
