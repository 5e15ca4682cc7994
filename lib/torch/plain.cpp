#include "torch/plain.h"

#include <array>

namespace cachetool::torch {

namespace {

using pickle::ObjectNode;
using pickle::Pair;
using pickle::Tag;
using pickle::Value;

/// A call that nothing was added to and that no BUILD touched, with at most `max_args` arguments.
bool is_bare_call(const ObjectNode& object, std::size_t max_args) {
  return object.states.size == 0 && object.kwargs.is_none() && object.args.is(Tag::kTuple) &&
         object.args.tuple().size <= max_args;
}

bool makes_sequence(const pickle::GlobalNode& cls) {
  if (cls.module == "builtins" || cls.module == "__builtin__") {
    return cls.name == "set" || cls.name == "frozenset" || cls.name == "list" || cls.name == "tuple";
  }
  if (cls.module == "torch") return cls.name == "Size";
  return cls.module == "torch.utils._ordered_set" && cls.name == "OrderedSet";
}

}  // namespace

const pickle::GlobalNode* class_of(const Value& value) {
  if (!value.is(Tag::kObject)) return nullptr;
  const Value& callable = value.object().callable;
  return callable.is(Tag::kGlobal) ? &callable.global() : nullptr;
}

bool is_instance(const Value& value, std::string_view module, std::string_view name) {
  const pickle::GlobalNode* cls = class_of(value);
  return cls != nullptr && cls->module == module && cls->name == name;
}

std::optional<std::span<const Value>> sequence_items(const Value& value) {
  switch (value.tag()) {
    case Tag::kList:
    case Tag::kTuple:
    case Tag::kSet:
    case Tag::kFrozenSet:
      return pickle::items_of(value);
    case Tag::kObject:
      break;
    default:
      return std::nullopt;
  }
  const ObjectNode& object = value.object();
  const pickle::GlobalNode* cls = class_of(value);
  if (cls == nullptr || !makes_sequence(*cls) || !is_bare_call(object, 1) || object.items.size != 0)
    return std::nullopt;
  const std::span<const Value> args = object.args.tuple().items();
  if (args.empty()) return object.appended.items();
  if (object.appended.size != 0) return std::nullopt;
  switch (args[0].tag()) {
    case Tag::kList:
    case Tag::kTuple:
    case Tag::kSet:
    case Tag::kFrozenSet:
      return pickle::items_of(args[0]);
    default:
      return std::nullopt;
  }
}

std::optional<DictView> dict_view(const Value& value) {
  if (value.is(Tag::kDict)) return DictView{value.dict().pairs(), {}};
  const pickle::GlobalNode* cls = class_of(value);
  if (cls == nullptr) return std::nullopt;
  const ObjectNode& object = value.object();
  if (!is_bare_call(object, 2) || object.appended.size != 0) return std::nullopt;
  std::span<const Value> args = object.args.tuple().items();
  if (cls->module == "collections" && cls->name == "defaultdict") {
    if (!args.empty()) args = args.subspan(1);  // the factory says nothing about the contents
  } else if (!(cls->module == "collections" && (cls->name == "OrderedDict" || cls->name == "Counter")) &&
             !((cls->module == "builtins" || cls->module == "__builtin__") && cls->name == "dict")) {
    return std::nullopt;
  }
  if (args.size() > 1) return std::nullopt;
  if (args.empty()) return DictView{{}, object.items.pairs()};
  if (!args[0].is(Tag::kDict)) return std::nullopt;
  return DictView{args[0].dict().pairs(), object.items.pairs()};
}

const Value* find(const DictView& dict, std::string_view key) {
  for (std::size_t i = dict.size(); i-- > 0;) {
    const Pair& pair = dict[i];
    if (pair.key.is(Tag::kString) && pair.key.bytes() == key) return &pair.value;
  }
  return nullptr;
}

std::optional<std::span<const Value>> slot_state(const Value& state) {
  if (!state.is(Tag::kTuple)) return std::nullopt;
  const std::span<const Value> parts = state.tuple().items();
  if (parts.size() != 2) return std::nullopt;
  const auto fits = [](const Value& part) { return part.is_none() || part.is(Tag::kDict); };
  if (!fits(parts[0]) || !fits(parts[1]) || (parts[0].is_none() && parts[1].is_none())) return std::nullopt;
  return parts;
}

std::span<const std::string_view> slot_names(const pickle::GlobalNode& cls, std::size_t count) {
  // torch/_inductor/cudagraph_utils.py (2.15).
  static constexpr std::array<std::string_view, 4> kPlaceholderInfo = {"name", "stack_trace", "users",
                                                                       "mutating_use_stack_trace"};
  if (cls.module == "torch._inductor.cudagraph_utils" && cls.name == "PlaceholderInfo" &&
      count == kPlaceholderInfo.size()) {
    return kPlaceholderInfo;
  }
  return {};
}

std::optional<std::int64_t> enum_value(const Value& value) {
  if (class_of(value) == nullptr) return std::nullopt;
  const ObjectNode& object = value.object();
  if (!is_bare_call(object, 1)) return std::nullopt;
  const std::span<const Value> args = object.args.tuple().items();
  if (args.size() != 1 || !args[0].is(Tag::kInt)) return std::nullopt;
  return args[0].as_int();
}

std::string_view torch_constant_name(const Value& value) {
  if (!value.is(Tag::kGlobal)) return {};
  const std::string_view name = value.global().name;
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

}  // namespace cachetool::torch
