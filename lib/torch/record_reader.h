#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "pickle/value.h"
#include "torch/field.h"
#include "torch/list_view.h"
#include "torch/notes.h"
#include "torch/plain.h"

namespace cachetool::torch {

/// Where in an entry a value hangs. Lives on the stack while a record is read; becomes text only for a note.
struct Path {
  const Path* parent = nullptr;
  std::string_view name;
  std::int64_t index = -1;  ///< position in a list instead of a name

  /// "fx_kwargs.static_input_idxs", "partition_maps[0].id"
  std::string text() const;
};

/// What reading records of one entry shares: the budget, the notes, and a cap on the steps. Values are shared
/// in a pickle, so a small one can name a long list many times; beyond the cap reading stops with kLimitWork.
class Reading {
 public:
  Reading(Budget& budget, Notes& notes) : budget_(budget), notes_(notes), steps_left_(budget.limit() / 16) {}

  /// Counts `steps`; false, from then on always, when there were too many.
  bool step(std::uint64_t steps);
  /// Takes memory for `count` records of `size` bytes from the budget; false, from then on always, when it is
  /// used up.
  bool take(std::uint64_t count, std::uint64_t size);
  bool stopped() const { return error_.has_value(); }
  const std::optional<Error>& error() const { return error_; }

  void note(const Path& path, std::string message, const pickle::Value& value);
  /// "expected <what>, found <tag or class of value>"
  void expected(const Path& path, std::string_view what, const pickle::Value& value);
  void unrecognised(const Path& path, const pickle::Value& value);
  Budget& budget() { return budget_; }

 private:
  void stop(ErrorCode code, std::string message);

  Budget& budget_;
  Notes& notes_;
  std::uint64_t steps_left_;
  std::optional<Error> error_;
};

/// "list", "str", "torch._inductor.utils.BoxedBool": for messages.
std::string describe_type(const pickle::Value& value);

// Readers of one field each. None makes the field None; another type than expected makes it malformed, with a
// note.
void read(Reading& reading, const Path& path, const pickle::Value& value, Field<std::string_view>& out);
void read(Reading& reading, const Path& path, const pickle::Value& value, Field<std::int64_t>& out);
void read(Reading& reading, const Path& path, const pickle::Value& value, Field<bool>& out);
void read(Reading& reading, const Path& path, const pickle::Value& value, Field<pickle::Value>& out);
void read(Reading& reading, const Path& path, const pickle::Value& value, Field<DictView>& out);
/// bytes or bytearray.
void read_bytes(Reading& reading, const Path& path, const pickle::Value& value, Field<std::string_view>& out);
/// The `value` of a BoxedBool, or a bool.
void read_boxed_bool(Reading& reading, const Path& path, const pickle::Value& value, Field<bool>& out);
/// The `value` of a BoxedDeviceIndex, or an int; without a box None, with an empty one a value that holds
/// nothing.
void read_boxed_index(Reading& reading, const Path& path, const pickle::Value& value,
                      Field<std::optional<std::int64_t>>& out);
/// The number of an enum member.
void read_enum(Reading& reading, const Path& path, const pickle::Value& value, Field<std::int64_t>& out);

template <class T>
void read(Reading& reading, const Path& path, const pickle::Value& value, Field<ListView<T>>& out) {
  if (value.is_none()) return out.set_none();
  const auto items = sequence_items(value);
  if (!items) return out.set_malformed(), reading.expected(path, "list", value);
  if (!reading.step(items->size())) return;
  for (std::size_t i = 0; i < items->size(); ++i) {
    if (Element<T>::matches((*items)[i])) continue;
    out.set_malformed();
    return reading.expected(Path{&path, {}, static_cast<std::int64_t>(i)}, Element<T>::kName, (*items)[i]);
  }
  out = ListView<T>(*items);
}

/// How one member of an instance is read into a record of type R; no reader for members that are known and
/// only shown raw.
template <class R>
struct Member {
  std::string_view name;
  void (*read)(Reading&, const Path&, const pickle::Value&, R&) = nullptr;
};

/// Reads a member with the `read` that fits the field's type.
template <auto Field>
struct MemberReader;

template <class R, class F, F R::* Pointer>
struct MemberReader<Pointer> {
  static void apply(Reading& reading, const Path& path, const pickle::Value& value, R& record) {
    read(reading, path, value, record.*Pointer);
  }
  /// With a reader of another name, e.g. read_boxed_bool.
  template <void (*Reader)(Reading&, const Path&, const pickle::Value&, F&)>
  static void apply_with(Reading& reading, const Path& path, const pickle::Value& value, R& record) {
    Reader(reading, path, value, record.*Pointer);
  }
};

template <auto Field>
inline constexpr auto* kRead = &MemberReader<Field>::apply;
template <auto Field, auto Reader>
inline constexpr auto* kReadWith = &MemberReader<Field>::template apply_with<Reader>;

/// Reads the members of one dict by the table; a name that isn't in it is unrecognised. Objects of one class
/// list their members in one order, so the search starts behind the member found last and usually ends at
/// once.
template <class R>
void read_dict(Reading& reading, const Path& path, std::span<const pickle::Pair> pairs,
               std::span<const Member<R>> table, R& record) {
  std::size_t next = 0;
  for (const pickle::Pair& pair : pairs) {
    if (!reading.step(1)) return;
    if (!pair.key.is(pickle::Tag::kString)) {
      reading.unrecognised(Path{&path, "(member without a name)"}, pair.value);
      continue;
    }
    const std::string_view name = pair.key.bytes();
    const Path member_path{&path, name};
    std::size_t tries = 0;
    while (tries < table.size() && table[next].name != name) {
      next = next + 1 == table.size() ? 0 : next + 1;
      ++tries;
    }
    if (tries == table.size()) {
      reading.unrecognised(member_path, pair.value);
      continue;
    }
    if (table[next].read != nullptr) table[next].read(reading, member_path, pair.value, record);
    next = next + 1 == table.size() ? 0 : next + 1;
  }
}

/// Reads an instance of the class called `class_name` (in any module: they move between releases). False,
/// with a note, when `value` is something else.
template <class R>
bool read_instance(Reading& reading, const Path& path, const pickle::Value& value,
                   std::string_view class_name, std::span<const Member<R>> table, R& record) {
  const pickle::GlobalNode* cls = class_of(value);
  if (cls == nullptr || cls->name != class_name) return reading.expected(path, class_name, value), false;
  const pickle::ObjectNode& object = value.object();
  for (const pickle::Value& state : object.states.items()) {
    if (!state.is(pickle::Tag::kList)) continue;
    const auto values = state.list().items();
    const auto names = slot_names(*cls, values.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const pickle::Pair pair{pickle::Value::text(pickle::Tag::kString, names[i]), values[i]};
      read_dict(reading, path, std::span(&pair, 1), table, record);
    }
    if (names.empty()) reading.expected(path, "state that is a dict", state);
  }
  for_each_state(
      object, [&](const pickle::DictNode& dict) { read_dict(reading, path, dict.pairs(), table, record); });
  return true;
}

/// The same into a field; None makes it None.
template <class R>
void read_instance(Reading& reading, const Path& path, const pickle::Value& value,
                   std::string_view class_name, std::span<const Member<R>> table, Field<R>& out) {
  if (value.is_none()) return out.set_none();
  R& record = out.emplace();
  if (!read_instance(reading, path, value, class_name, table, record)) out.set_malformed();
}

/// Reads a list of records, element by element with `read_element(reading, path, value, record)`.
template <class R, class ReadElement>
bool read_records(Reading& reading, const Path& path, const pickle::Value& value, std::vector<R>& out,
                  ReadElement&& read_element) {
  const auto items = sequence_items(value);
  if (!items) return reading.expected(path, "list", value), false;
  if (!reading.take(items->size(), sizeof(R))) return false;
  out.reserve(items->size());
  for (std::size_t i = 0; i < items->size() && !reading.stopped(); ++i) {
    read_element(reading, Path{&path, {}, static_cast<std::int64_t>(i)}, (*items)[i], out.emplace_back());
  }
  return true;
}

template <class R, class ReadElement>
void read_records(Reading& reading, const Path& path, const pickle::Value& value, Field<std::vector<R>>& out,
                  ReadElement&& read_element) {
  if (value.is_none()) return out.set_none();
  std::vector<R>& records = out.emplace();
  if (!read_records(reading, path, value, records, read_element)) out.set_malformed();
}

}  // namespace cachetool::torch
