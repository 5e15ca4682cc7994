// Tuples, lists, dicts and sets: making them and adding to them.

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "pickle/children.h"
#include "pickle/machine.h"

namespace cachetool::pickle {
namespace {

ListNode& writable_list(const Value& value) {
  return const_cast<ListNode&>(value.list());
}
DictNode& writable_dict(const Value& value) {
  return const_cast<DictNode&>(value.dict());
}
SetNode& writable_set(const Value& value) {
  return const_cast<SetNode&>(value.set());
}
ObjectNode& writable_object(const Value& value) {
  return const_cast<ObjectNode&>(value.object());
}

}  // namespace

Machine::Position Machine::empty_tuple(Position at) {
  if (empty_tuple_ == nullptr) {  // Python has only one, too
    auto* node = arena_.make<TupleNode>();
    if (node == nullptr) return no_memory();
    node->offset = here();
    empty_tuple_ = node;
  }
  return push(Value::node(Tag::kTuple, empty_tuple_), at);
}

/// A tuple of the values from `first` on, which leave the stack.
bool Machine::take_tuple(std::uint64_t first, Value& tuple) {
  if (first < fence_) return underflow() != nullptr;
  const std::uint64_t size = stack_.size() - first;
  if (size > std::numeric_limits<std::uint32_t>::max()) return no_memory() != nullptr;
  if (size == 0) {
    if (empty_tuple(opcode_at_) == nullptr) return false;
    tuple = stack_.back();
    stack_.pop();
    return true;
  }
  void* memory = arena_.take(sizeof(TupleNode) + size * sizeof(Value));
  if (memory == nullptr) return no_memory() != nullptr;
  auto* node = new (memory) TupleNode;
  auto* items = reinterpret_cast<Value*>(node + 1);
  std::memcpy(static_cast<void*>(items), stack_.data() + first, size * sizeof(Value));
  node->offset = here();
  node->data = items;
  node->size = static_cast<std::uint32_t>(size);
  stack_.truncate(first);
  tuple = Value::node(Tag::kTuple, node);
  return true;
}

Machine::Position Machine::make_tuple(std::uint64_t first, Position at) {
  Value value;
  return take_tuple(first, value) ? push(value, at) : nullptr;
}

Machine::Position Machine::counted_tuple(std::uint64_t count, Position at) {
  return has_values(count) ? make_tuple(stack_.size() - count, at) : underflow();
}

Machine::Position Machine::tuple(Position at) {
  std::uint64_t first = 0;
  return pop_marker(first) ? make_tuple(first, at) : nullptr;
}

Machine::Position Machine::empty_list(Position at) {
  auto* node = arena_.make<ListNode>();
  if (node == nullptr) return no_memory();
  node->offset = here();
  return push(Value::node(Tag::kList, node), at);
}

Machine::Position Machine::empty_dict(Position at) {
  auto* node = arena_.make<DictNode>();
  if (node == nullptr) return no_memory();
  node->offset = here();
  return push(Value::node(Tag::kDict, node), at);
}

Machine::Position Machine::empty_set(Position at) {
  auto* node = arena_.make<SetNode>();
  if (node == nullptr) return no_memory();
  node->offset = here();
  return push(Value::node(Tag::kSet, node), at);
}

Machine::Position Machine::list(Position at) {
  std::uint64_t first = 0;
  if (!pop_marker(first)) return nullptr;
  auto* node = arena_.make<ListNode>();
  if (node == nullptr || !append(arena_, *node, stack_.data() + first, stack_.size() - first))
    return no_memory();
  node->offset = here();
  stack_.truncate(first);
  return push(Value::node(Tag::kList, node), at);
}

Machine::Position Machine::dict(Position at) {
  std::uint64_t first = 0;
  if (!pop_marker(first)) return nullptr;
  if ((stack_.size() - first) % 2 != 0) return malformed("the number of items is odd");
  auto* node = arena_.make<DictNode>();
  if (node == nullptr) return no_memory();
  node->offset = here();
  if (!insert_pairs(*node, first, stack_.size())) return nullptr;
  stack_.truncate(first);
  return push(Value::node(Tag::kDict, node), at);
}

Machine::Position Machine::frozen_set(Position at) {
  std::uint64_t first = 0;
  if (!pop_marker(first)) return nullptr;
  if (first < fence_) return underflow();
  auto* node = arena_.make<SetNode>();
  if (node == nullptr) return no_memory();
  node->offset = here();
  if (!insert_items(*node, first, stack_.size())) return nullptr;
  stack_.truncate(first);
  return push(Value::node(Tag::kFrozenSet, node), at);
}

/// Puts stack_[first..last), keys and values in turn, into `dict`.
bool Machine::insert_pairs(DictNode& dict, std::uint64_t first, std::uint64_t last) {
  if (!reserve(arena_, dict, dict.size + (last - first) / 2)) return no_memory() != nullptr;
  for (std::uint64_t i = first; i < last; i += 2) {
    Insertion insertion{};
    const KeyOutcome outcome = insert(arena_, keys_, dict, stack_[i], stack_[i + 1], insertion);
    if (outcome != KeyOutcome::kDone) return key_failure(outcome, stack_[i]) != nullptr;
    if (insertion == Insertion::kReplaced) may_have_dropped_ = true;
  }
  return true;
}

bool Machine::insert_items(SetNode& set, std::uint64_t first, std::uint64_t last) {
  if (!reserve(arena_, set, set.size + (last - first))) return no_memory() != nullptr;
  for (std::uint64_t i = first; i < last; ++i) {
    Insertion insertion{};
    const KeyOutcome outcome = insert(arena_, keys_, set, stack_[i], insertion);
    if (outcome != KeyOutcome::kDone) return key_failure(outcome, stack_[i]) != nullptr;
    if (insertion == Insertion::kReplaced) may_have_dropped_ = true;
  }
  return true;
}

/// list[key] = value, which no pickler writes but CPython carries out.
bool Machine::assign_list_items(ListNode& list, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t i = first; i < last; i += 2) {
    const Value& key = stack_[i];
    if (!key.is(Tag::kInt) && !key.is(Tag::kBool))
      return malformed("the index of a list must be an integer") != nullptr;
    std::int64_t index = key.is(Tag::kBool) ? (key.as_bool() ? 1 : 0) : key.as_int();
    if (index < 0) index += list.size;
    if (index < 0 || index >= list.size) return malformed("the index is outside the list") != nullptr;
    list.data[index] = stack_[i + 1];
    may_have_dropped_ = true;
  }
  return true;
}

/// Adds the values from `first` on to the list below them.
Machine::Position Machine::append_from(std::uint64_t first, Position at) {
  if (first > stack_.size() || first <= fence_) return underflow();
  const std::uint64_t count = stack_.size() - first;
  if (count == 0) return at;
  const Value target = stack_[first - 1];
  ListNode* list = nullptr;
  if (target.is(Tag::kList)) {
    list = &writable_list(target);
  } else if (target.is(Tag::kObject)) {
    list = &writable_object(target).appended;
  } else if (is_opaque(target)) {
    ObjectNode* mutation = record_mutation(target);
    if (mutation == nullptr) return nullptr;
    list = &mutation->appended;
  } else if (target.is(Tag::kByteArray)) {
    return fail_with(ErrorCode::kUnsupported, "changing a bytearray");
  } else {
    return malformed(fmt::format("a {} has no append", type_name(target.tag())));
  }
  if (!append(arena_, *list, stack_.data() + first, count)) return no_memory();
  stack_.truncate(first);
  return at;
}

Machine::Position Machine::append_one(Position at) {
  return has_values(2) ? append_from(stack_.size() - 1, at) : underflow();
}

Machine::Position Machine::appends(Position at) {
  std::uint64_t first = 0;
  return pop_marker(first) ? append_from(first, at) : nullptr;
}

/// Puts the keys and values from `first` on into the dict below them.
Machine::Position Machine::set_items_from(std::uint64_t first, Position at) {
  if (first > stack_.size() || first <= fence_) return underflow();
  const std::uint64_t count = stack_.size() - first;
  if (count == 0) return at;
  if (count % 2 != 0) return malformed("the number of items is odd");
  const Value target = stack_[first - 1];
  bool done = false;
  if (target.is(Tag::kDict)) {
    done = insert_pairs(writable_dict(target), first, stack_.size());
  } else if (target.is(Tag::kObject)) {
    done = insert_pairs(writable_object(target).items, first, stack_.size());
  } else if (is_opaque(target)) {
    ObjectNode* mutation = record_mutation(target);
    done = mutation != nullptr && insert_pairs(mutation->items, first, stack_.size());
  } else if (target.is(Tag::kList)) {
    done = assign_list_items(writable_list(target), first, stack_.size());
  } else if (target.is(Tag::kByteArray)) {
    return fail_with(ErrorCode::kUnsupported, "changing a bytearray");
  } else {
    return malformed(fmt::format("a {} takes no items", type_name(target.tag())));
  }
  if (!done) return nullptr;
  stack_.truncate(first);
  return at;
}

Machine::Position Machine::set_item(Position at) {
  return has_values(3) ? set_items_from(stack_.size() - 2, at) : underflow();
}

Machine::Position Machine::set_items(Position at) {
  std::uint64_t first = 0;
  return pop_marker(first) ? set_items_from(first, at) : nullptr;
}

Machine::Position Machine::add_items(Position at) {
  std::uint64_t first = 0;
  if (!pop_marker(first)) return nullptr;
  if (first > stack_.size() || first <= fence_) return underflow();
  const std::uint64_t count = stack_.size() - first;
  if (count == 0) return at;
  const Value target = stack_[first - 1];
  if (target.is(Tag::kSet)) {
    if (!insert_items(writable_set(target), first, stack_.size())) return nullptr;
  } else if (is_opaque(target)) {
    ObjectNode* object = target.is(Tag::kObject) ? &writable_object(target) : record_mutation(target);
    if (object == nullptr) return nullptr;
    if (!append(arena_, object->appended, stack_.data() + first, count)) return no_memory();
  } else {
    return malformed(fmt::format("a {} has no add", type_name(target.tag())));
  }
  stack_.truncate(first);
  return at;
}

}  // namespace cachetool::pickle
