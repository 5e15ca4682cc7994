#include "torch/record_reader.h"

#include <fmt/format.h>

namespace cachetool::torch {

using pickle::Tag;
using pickle::Value;

namespace {

/// The member `value` of a box, wherever it is stored; null when `value` is no box of that class.
const Value* boxed(const Value& value, std::string_view class_name) {
  const pickle::GlobalNode* cls = class_of(value);
  if (cls == nullptr || cls->name != class_name) return nullptr;
  const Value* found = nullptr;
  for_each_state(value.object(), [&](const pickle::DictNode& dict) {
    if (const Value* member = pickle::find(dict, "value")) found = member;
  });
  return found;
}

}  // namespace

std::string Path::text() const {
  // Depth is that of the records, a handful; still no recursion.
  std::vector<const Path*> parts;
  for (const Path* part = this; part != nullptr; part = part->parent) parts.push_back(part);
  std::string text;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if ((*part)->index >= 0) {
      text += fmt::format("[{}]", (*part)->index);
    } else if (!(*part)->name.empty()) {
      if (!text.empty()) text += '.';
      text += (*part)->name;
    }
  }
  return text;
}

bool Reading::step(std::uint64_t steps) {
  if (error_) return false;
  if (steps > steps_left_) {
    stop(ErrorCode::kLimitWork, "decoding would take far more steps than the size of the entry justifies");
    return false;
  }
  steps_left_ -= steps;
  return true;
}

bool Reading::take(std::uint64_t count, std::uint64_t size) {
  if (!step(count)) return false;
  if (budget_.charge(count * size)) return true;
  stop(ErrorCode::kLimitMemory, "the records of the entry need more memory than the budget allows");
  return false;
}

void Reading::stop(ErrorCode code, std::string message) {
  error_ = Error{code, std::move(message), {}, std::nullopt, {}};
}

void Reading::note(const Path& path, std::string message, const Value& value) {
  Note note{path.text(), std::move(message), pickle::offset_of(value)};
  if (!take(1, sizeof(Note) + note.path.size() + note.message.size())) return;
  notes_.notes.push_back(std::move(note));
}

void Reading::expected(const Path& path, std::string_view what, const Value& value) {
  if (stopped()) return;
  note(path, fmt::format("expected {}, found {}", what, describe_type(value)), value);
}

void Reading::unrecognised(const Path& path, const Value& value) {
  if (stopped()) return;
  Unrecognised field{path.text(), value};
  if (!take(1, sizeof(Unrecognised) + field.path.size())) return;
  notes_.unrecognised.push_back(std::move(field));
}

std::string describe_type(const Value& value) {
  if (const pickle::GlobalNode* cls = class_of(value)) return fmt::format("{}.{}", cls->module, cls->name);
  return std::string(pickle::type_name(value.tag()));
}

void read(Reading& reading, const Path& path, const Value& value, Field<std::string_view>& out) {
  if (value.is_none()) return out.set_none();
  if (!value.is(Tag::kString)) return out.set_malformed(), reading.expected(path, "str", value);
  out = value.bytes();
}

void read(Reading& reading, const Path& path, const Value& value, Field<std::int64_t>& out) {
  if (value.is_none()) return out.set_none();
  if (!value.is(Tag::kInt)) return out.set_malformed(), reading.expected(path, "int", value);
  out = value.as_int();
}

void read(Reading& reading, const Path& path, const Value& value, Field<bool>& out) {
  if (value.is_none()) return out.set_none();
  if (!value.is(Tag::kBool)) return out.set_malformed(), reading.expected(path, "bool", value);
  out = value.as_bool();
}

void read(Reading&, const Path&, const Value& value, Field<Value>& out) {
  if (value.is_none()) return out.set_none();
  out = value;
}

void read(Reading& reading, const Path& path, const Value& value, Field<DictView>& out) {
  if (value.is_none()) return out.set_none();
  const auto dict = dict_view(value);
  if (!dict) return out.set_malformed(), reading.expected(path, "dict", value);
  out = *dict;
}

void read_bytes(Reading& reading, const Path& path, const Value& value, Field<std::string_view>& out) {
  if (value.is_none()) return out.set_none();
  if (!value.is(Tag::kBytes) && !value.is(Tag::kByteArray)) {
    return out.set_malformed(), reading.expected(path, "bytes", value);
  }
  out = value.bytes();
}

void read_boxed_bool(Reading& reading, const Path& path, const Value& value, Field<bool>& out) {
  const Value* inner = boxed(value, "BoxedBool");
  read(reading, path, inner != nullptr ? *inner : value, out);
}

void read_boxed_index(Reading& reading, const Path& path, const Value& value,
                      Field<std::optional<std::int64_t>>& out) {
  const Value* inner = boxed(value, "BoxedDeviceIndex");
  Field<std::int64_t> number;
  read(reading, path, inner != nullptr ? *inner : value, number);
  if (number) {
    out = std::optional(*number);
  } else if (!number.is_none()) {
    out.set_malformed();
  } else if (inner != nullptr) {
    out = std::optional<std::int64_t>();
  } else {
    out.set_none();
  }
}

void read_enum(Reading& reading, const Path& path, const Value& value, Field<std::int64_t>& out) {
  if (value.is_none()) return out.set_none();
  const auto number = enum_value(value);
  if (!number) return out.set_malformed(), reading.expected(path, "enum", value);
  out = *number;
}

}  // namespace cachetool::torch
