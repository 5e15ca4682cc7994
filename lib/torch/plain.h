#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "pickle/value.h"

namespace cachetool::torch {

/// Values that a pickle writes as a call although they are plain data: set([…]), torch.Size((…)),
/// OrderedSet([…]), OrderedDict(), Counter({…}), defaultdict(list), int(…), bytearray(…). Nothing is called;
/// these functions look through.

/// The class that an object was made by (callable of REDUCE, NEWOBJ, …), or null when it is no global or no
/// object.
const pickle::GlobalNode* class_of(const pickle::Value& value);

/// True when `value` is an object made by calling `module.name`.
bool is_instance(const pickle::Value& value, std::string_view module, std::string_view name);

/// Elements of a list, tuple, set or frozenset, or of a call that makes one (builtins list, tuple, set,
/// frozenset; torch.Size; torch.utils._ordered_set.OrderedSet); nothing for any other
/// value.
std::optional<std::span<const pickle::Value>> sequence_items(const pickle::Value& value);

/// Pairs of a dict, or of a call that makes one (builtins dict; collections OrderedDict, Counter,
/// defaultdict), in order: those of the argument first, then those set later.
struct DictView {
  std::span<const pickle::Pair> given;
  std::span<const pickle::Pair> added;
  std::size_t size() const { return given.size() + added.size(); }
  const pickle::Pair& operator[](std::size_t i) const {
    return i < given.size() ? given[i] : added[i - given.size()];
  }
};
std::optional<DictView> dict_view(const pickle::Value& value);

/// The value under a string key, the last one set; null when there is none. Linear.
const pickle::Value* find(const DictView& dict, std::string_view key);

/// The two parts of a state (dict or None, dict or None) as copyreg writes it for classes with slots; nothing
/// for others.
std::optional<std::span<const pickle::Value>> slot_state(const pickle::Value& state);

/// Calls fn(const pickle::DictNode&) for each dict that BUILD updates the members of an instance with, in
/// order of their application (a later one replaces a member of the same name): a state that is a dict, and
/// both parts of a state (dict or None, dict or None). The number of states of another form is returned.
template <class Fn>
std::size_t for_each_state(const pickle::ObjectNode& object, Fn&& fn) {
  std::size_t others = 0;
  for (const pickle::Value& state : object.states.items()) {
    if (state.is(pickle::Tag::kDict)) {
      fn(state.dict());
    } else if (const auto parts = slot_state(state)) {
      for (const pickle::Value& part : *parts) {
        if (part.is(pickle::Tag::kDict)) fn(part.dict());
      }
    } else {
      ++others;
    }
  }
  return others;
}

/// Names of the slots of a class whose state is a list in their order (frozen dataclasses with slots), or
/// nothing.
std::span<const std::string_view> slot_names(const pickle::GlobalNode& cls, std::size_t count);

/// The number of an enum member that was pickled by value (`MutationType(2)`, made by REDUCE with one int).
std::optional<std::int64_t> enum_value(const pickle::Value& value);

/// "torch.float32" → "float32" for a dtype, layout or memory format that was pickled as a global: the last
/// component of the name, whatever the module. Empty for other values.
std::string_view torch_constant_name(const pickle::Value& value);

}  // namespace cachetool::torch
