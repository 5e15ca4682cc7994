#include "pickle/policy_nested.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "pickle/opcodes.h"
#include "pickle/policy_rules.h"

namespace cachetool::pickle {
namespace {

constexpr std::string_view kLegacyMagic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e", 15);

struct StorageType {
  std::string_view name;
  std::uint64_t element;
};

constexpr StorageType kStorageTypes[] = {
    {"BFloat16Storage", 2},       {"BoolStorage", 1},         {"ByteStorage", 1},     {"CharStorage", 1},
    {"ComplexDoubleStorage", 16}, {"ComplexFloatStorage", 8}, {"DoubleStorage", 8},   {"FloatStorage", 4},
    {"HalfStorage", 2},           {"IntStorage", 4},          {"LongStorage", 8},     {"QInt32Storage", 4},
    {"QInt8Storage", 1},          {"QUInt2x4Storage", 1},     {"QUInt4x2Storage", 1}, {"QUInt8Storage", 1},
    {"ShortStorage", 2},          {"UntypedStorage", 1},
};

const StorageType* find_storage_type(const Value& value) {
  if (!value.is(Tag::kGlobal)) return nullptr;
  // torch.UntypedStorage is pickled under the module that defines it.
  const std::string_view module = value.global().module;
  if (module != "torch" && !is_global(value, "torch.storage", "UntypedStorage")) return nullptr;
  const auto* found = std::find_if(std::begin(kStorageTypes), std::end(kStorageTypes),
                                   [&](const StorageType& type) { return type.name == value.global().name; });
  return found == std::end(kStorageTypes) ? nullptr : found;
}

}  // namespace

Payload payload_of(std::string_view bytes) {
  if (bytes.size() < 2) return Payload::kOpaque;
  if (bytes[0] == '\x80') {
    if (bytes[1] < 2 || bytes[1] > 5) return Payload::kOpaque;
    return bytes.starts_with(kLegacyMagic) ? Payload::kLegacyStream : Payload::kPickle;
  }
  // Opcodes that a pickle without PROTO can start with and still name something.
  constexpr std::string_view kFirst = "(]})cINLFSVJKMGTUXBClPi";
  return kFirst.find(bytes[0]) != std::string_view::npos ? Payload::kTextPickle : Payload::kOpaque;
}

bool is_storage_id(const Value& id) {
  const auto parts = items_of(id);
  if (!id.is(Tag::kTuple) || parts.size() < 5 || parts.size() > 6) return false;
  const bool view = parts.size() == 6 && !parts[5].is_none() && !parts[5].is(Tag::kTuple);
  return text_or(parts[0]) == "storage" && find_storage_type(parts[1]) != nullptr &&
         parts[2].is(Tag::kString) && parts[3].is(Tag::kString) && parts[4].is(Tag::kInt) && !view;
}

bool find_storages(std::string_view rest, const Document& object, const Document& keys,
                   std::vector<std::string_view>& storages) {
  if (!keys.root().is(Tag::kList)) return false;
  // The root is the storage itself where torch stores constants; others hold them further below, and the
  // sizes of their elements aren't looked up.
  const Value& root = object.root();
  if (!root.is(Tag::kPersistent) || !is_storage_id(root.persistent().id)) return true;
  const auto id = items_of(root.persistent().id);
  for (const Value& key : keys.root().list().items()) {
    if (!key.is(Tag::kString) || key.bytes() != id[2].bytes() || rest.size() < 8) return false;
    std::uint64_t count = 0;
    for (std::size_t i = 8; i-- > 0;) count = count << 8 | static_cast<unsigned char>(rest[i]);
    rest.remove_prefix(8);
    const std::uint64_t element = find_storage_type(id[1])->element;
    // torch makes room for what the id says before it reads.
    if (count > rest.size() / element || id[4].as_int() != static_cast<std::int64_t>(count)) return false;
    storages.push_back(rest.substr(0, count * element));
    rest.remove_prefix(count * element);
  }
  return true;
}

}  // namespace cachetool::pickle
