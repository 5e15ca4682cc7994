#include "pickle/value.h"

#include "pickle/key_hash.h"
#include "pickle/key_index.h"

namespace cachetool::pickle {

std::string_view type_name(Tag tag) {
  switch (tag) {
    case Tag::kNone:
      return "NoneType";
    case Tag::kBool:
      return "bool";
    case Tag::kInt:
    case Tag::kBigInt:
      return "int";
    case Tag::kFloat:
      return "float";
    case Tag::kString:
      return "str";
    case Tag::kBytes:
      return "bytes";
    case Tag::kByteArray:
      return "bytearray";
    case Tag::kList:
      return "list";
    case Tag::kTuple:
      return "tuple";
    case Tag::kDict:
      return "dict";
    case Tag::kSet:
      return "set";
    case Tag::kFrozenSet:
      return "frozenset";
    case Tag::kGlobal:
      return "global";
    case Tag::kObject:
      return "object";
    case Tag::kPersistent:
      return "persistent object";
    case Tag::kBuffer:
      return "memoryview";
  }
  return "value";
}

std::span<const Value> items_of(const Value& value) {
  switch (value.tag()) {
    case Tag::kList:
      return value.list().items();
    case Tag::kTuple:
      return value.tuple().items();
    case Tag::kSet:
    case Tag::kFrozenSet:
      return value.set().items();
    default:
      return {};
  }
}

const Value* find(const DictNode& dict, std::string_view name) {
  const auto matches = [&](const Pair& pair) {
    return pair.key.is(Tag::kString) && pair.key.bytes() == name;
  };
  if (dict.index == nullptr) {
    for (const Pair& pair : dict.pairs()) {
      if (matches(pair)) return &pair.value;
    }
    return nullptr;
  }
  const Value* found = nullptr;
  visit_candidates(dict.index, hash_text(Tag::kString, name), [&](std::uint32_t position) {
    if (matches(dict.data[position])) found = &dict.data[position].value;
    return found != nullptr;
  });
  return found;
}

bool is_global(const Value& value, std::string_view module, std::string_view name) {
  return value.is(Tag::kGlobal) && value.global().name == name && value.global().module == module;
}

std::uint64_t offset_of(const Value& value) {
  switch (value.tag()) {
    case Tag::kList:
      return value.list().offset;
    case Tag::kTuple:
      return value.tuple().offset;
    case Tag::kDict:
      return value.dict().offset;
    case Tag::kSet:
    case Tag::kFrozenSet:
      return value.set().offset;
    case Tag::kGlobal:
      return value.global().offset;
    case Tag::kObject:
      return value.object().offset;
    case Tag::kPersistent:
      return value.persistent().offset;
    default:
      return 0;
  }
}

}  // namespace cachetool::pickle
