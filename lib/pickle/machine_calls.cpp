// Globals, and calls that are recorded instead of made.

#include <fmt/format.h>

#include "base/text.h"
#include "pickle/machine.h"

namespace cachetool::pickle {
namespace {

bool is_ascii_text(std::string_view text) {
  for (const char c : text) {
    if ((c & '\x80') != 0) return false;
  }
  return true;
}

}  // namespace

bool Machine::push_global(std::string_view module, std::string_view name, std::uint64_t offset) {
  KeyOutcome outcome{};
  const GlobalNode* node = globals_.intern(arena_, keys_, document_.globals_, module, name, offset, outcome);
  if (node == nullptr) return key_failure(outcome, Value()) != nullptr;
  return push(Value::node(Tag::kGlobal, node), opcode_at_) != nullptr;
}

Machine::Position Machine::text_global(Position at) {
  std::string_view module;
  std::string_view name;
  if (!read_line(at, module)) return nullptr;
  if (module.empty()) return malformed("the module's name is empty");
  if (!read_line(at, name)) return nullptr;
  if (name.empty()) return malformed("the name is empty");
  for (const std::string_view text : {module, name}) {
    if (find_invalid_utf8(text, Surrogates::kRejected) != std::string_view::npos)
      return malformed("a name is not UTF-8");
  }
  return push_global(module, name, here()) ? at : nullptr;
}

Machine::Position Machine::stack_global(Position at) {
  if (!has_values(2)) return underflow();
  const Value name = stack_.back();
  const Value module = stack_[stack_.size() - 2];
  if (!name.is(Tag::kString) || !module.is(Tag::kString)) return malformed("module and name must be strings");
  stack_.truncate(stack_.size() - 2);
  return push_global(module.bytes(), name.bytes(), here()) ? at : nullptr;
}

ObjectNode* Machine::record(Construction construction, const Value& callable, const Value& args) {
  auto* object = arena_.make<ObjectNode>();
  if (object == nullptr) {
    no_memory();
    return nullptr;
  }
  object->offset = here();
  object->construction = construction;
  object->callable = callable;
  object->args = args;
  const Value value = Value::node(Tag::kObject, object);
  if (!append(arena_, document_.calls_, &value, 1)) {
    no_memory();
    return nullptr;
  }
  return object;
}

/// Notes that the opcode changes something that the pickle didn't make. The target itself stays what it is.
ObjectNode* Machine::record_mutation(const Value& target) {
  deviate(Deviation::Kind::kForeignTarget, here(),
          fmt::format("{} on a {}", opcode_name(static_cast<std::uint8_t>(*opcode_at_)),
                      type_name(target.tag())));
  return record(Construction::kMutation, target, Value());
}

Machine::Position Machine::reduce(Position at) {
  if (!has_values(2)) return underflow();
  const Value args = stack_.back();
  const Value callable = stack_[stack_.size() - 2];
  if (!is_opaque(callable)) return malformed(fmt::format("a {} can't be called", type_name(callable.tag())));
  if (!args.is(Tag::kTuple))
    return malformed(fmt::format("the arguments are a {}, not a tuple", type_name(args.tag())));
  const ObjectNode* object = record(Construction::kReduce, callable, args);
  if (object == nullptr) return nullptr;
  stack_.pop();
  stack_.back() = Value::node(Tag::kObject, object);
  return at;
}

/// NEWOBJ and NEWOBJ_EX: class.__new__(class, *args, **kwargs).
Machine::Position Machine::new_object(Construction construction, Position at) {
  const std::uint64_t operands = construction == Construction::kNewObjEx ? 3 : 2;
  if (!has_values(operands)) return underflow();
  const std::uint64_t first = stack_.size() - operands;
  const Value callable = stack_[first];
  const Value args = stack_[first + 1];
  if (!is_opaque(callable)) return malformed(fmt::format("a {} is not a class", type_name(callable.tag())));
  if (!args.is(Tag::kTuple))
    return malformed(fmt::format("the arguments are a {}, not a tuple", type_name(args.tag())));
  Value kwargs;
  if (construction == Construction::kNewObjEx) {
    kwargs = stack_[first + 2];
    if (!kwargs.is(Tag::kDict)) {
      return malformed(fmt::format("the keyword arguments are a {}, not a dict", type_name(kwargs.tag())));
    }
    for (const Pair& pair : kwargs.dict().pairs()) {
      if (!pair.key.is(Tag::kString)) return malformed("a keyword is not a string");
    }
  }
  ObjectNode* object = record(construction, callable, args);
  if (object == nullptr) return nullptr;
  object->kwargs = kwargs;
  stack_.truncate(first + 1);
  stack_.back() = Value::node(Tag::kObject, object);
  return at;
}

Machine::Position Machine::object(Position at) {
  std::uint64_t first = 0;
  if (!pop_marker(first)) return nullptr;
  if (stack_.size() - first < 1) return underflow();
  const Value callable = stack_[first];
  if (!is_opaque(callable)) return malformed(fmt::format("a {} can't be called", type_name(callable.tag())));
  Value args;
  if (!take_tuple(first + 1, args)) return nullptr;
  const ObjectNode* object = record(Construction::kObj, callable, args);
  if (object == nullptr) return nullptr;
  stack_.back() = Value::node(Tag::kObject, object);
  return at;
}

Machine::Position Machine::inst(Position at) {
  std::uint64_t first = 0;
  if (!pop_marker(first)) return nullptr;
  std::string_view module;
  std::string_view name;
  const std::uint64_t names_at = offset_at(at);
  if (!read_line(at, module)) return nullptr;
  if (module.empty()) return malformed("the module's name is empty");
  if (!read_line(at, name)) return nullptr;
  if (name.empty()) return malformed("the name is empty");
  if (!is_ascii_text(module) || !is_ascii_text(name)) return malformed("a name is not ASCII");
  Value args;
  if (!take_tuple(first, args)) return nullptr;
  // The tuple bears the opcode's offset, so global and object get those of the two names.
  if (!push_global(module, name, names_at)) return nullptr;
  ObjectNode* object = record(Construction::kInst, stack_.back(), args);
  if (object == nullptr) return nullptr;
  object->offset = offset_at(name.data());
  stack_.back() = Value::node(Tag::kObject, object);
  return at;
}

Machine::Position Machine::build(Position at) {
  if (!has_values(2)) return underflow();
  const Value state = stack_.back();
  const Value target = stack_[stack_.size() - 2];
  stack_.pop();
  if (!is_opaque(target)) return build_plain(target, state) ? at : nullptr;
  auto* object =
      target.is(Tag::kObject) ? const_cast<ObjectNode*>(&target.object()) : record_mutation(target);
  if (object == nullptr) return nullptr;
  return append(arena_, object->states, &state, 1) ? at : no_memory();
}

/// Builtin values have neither __setstate__ nor attributes, so only a state that sets nothing goes through.
bool Machine::build_plain(const Value& target, const Value& state) {
  const bool is_pair = state.is(Tag::kTuple) && state.tuple().size == 2;
  const Value& attributes = is_pair ? state.tuple().data[0] : state;
  if (!attributes.is_none())
    return malformed(fmt::format("a {} takes no state", type_name(target.tag()))) != nullptr;
  if (is_pair) {
    const Value& slots = state.tuple().data[1];
    if (!slots.is(Tag::kDict)) return malformed("the state of slots is not a dict") != nullptr;
    if (slots.dict().size > 0)
      return malformed(fmt::format("a {} takes no state", type_name(target.tag()))) != nullptr;
  }
  deviate(Deviation::Kind::kForeignTarget, here(), fmt::format("BUILD on a {}", type_name(target.tag())));
  return true;
}

Machine::Position Machine::push_persistent(const Value& id, Position at) {
  auto* node = arena_.make<PersistentNode>();
  if (node == nullptr) return no_memory();
  node->offset = here();
  node->id = id;
  return push(Value::node(Tag::kPersistent, node), at);
}

Machine::Position Machine::text_persistent(Position at) {
  std::string_view line;
  if (!read_line(at, line)) return nullptr;
  if (!is_ascii_text(line)) return malformed("the id is not ASCII");
  return push_persistent(Value::text(Tag::kString, line), at);
}

Machine::Position Machine::persistent(Position at) {
  if (!has_values(1)) return underflow();
  const Value id = stack_.back();
  stack_.pop();
  return push_persistent(id, at);
}

/// Codes of the extension registry mean something only in a process that has filled it.
Machine::Position Machine::extension(Position at, unsigned code_bytes) {
  if (!available(at, code_bytes)) return truncated();
  const std::uint64_t code = little_endian(at, code_bytes);
  if (code == 0 || code > 0x7fffffff) return malformed("the extension code is not positive");
  return malformed(fmt::format("extension code {} is not registered", code));
}

}  // namespace cachetool::pickle
