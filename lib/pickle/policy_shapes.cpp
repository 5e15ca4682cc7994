#include "pickle/policy_shapes.h"

#include <algorithm>

namespace cachetool::pickle {
namespace {

bool is_container(const Value& value) {
  switch (value.tag()) {
    case Tag::kList:
    case Tag::kTuple:
    case Tag::kDict:
    case Tag::kSet:
    case Tag::kFrozenSet:
      return true;
    default:
      return false;
  }
}

/// The result of looking up an allowed bound method, or one of dill's types; that call is judged by itself.
bool is_lookup(const Value& value) {
  return value.is(Tag::kObject) && (is_global(value.object().callable, "builtins", "getattr") ||
                                    is_global(value.object().callable, "dill._dill", "_load_type"));
}

bool is_factory(const Value& value) {
  if (value.is_none() || is_lookup(value)) return true;
  if (!value.is(Tag::kGlobal)) return false;
  const std::string_view module = value.global().module;
  return (module == "builtins" || module == "collections" || module == "torch._dynamo.pgo") &&
         find_rule(module, value.global().name) != nullptr;
}

/// sympify evaluates text, and it looks for text inside containers and iterables.
bool is_expression(const Value& value) {
  switch (value.tag()) {
    case Tag::kNone:
    case Tag::kBool:
    case Tag::kInt:
    case Tag::kBigInt:
    case Tag::kFloat:
    case Tag::kGlobal:
      return true;
    case Tag::kObject: {
      const Value& callable = value.object().callable;
      return callable.is(Tag::kGlobal) && (callable.global().module.starts_with("sympy.") ||
                                           callable.global().module.starts_with("torch.utils._sympy."));
    }
    default:
      return false;
  }
}

bool fits_attribute(std::span<const Value> args) {
  if (args.size() != 2 || !args[1].is(Tag::kString)) return false;
  const Value owner = args[0].is(Tag::kObject) ? args[0].object().callable : args[0];
  return owner.is(Tag::kGlobal) &&
         allowed_attribute(owner.global().module, owner.global().name, args[1].bytes());
}

bool is_type_name(const Value& value) {
  constexpr std::string_view kNames[] = {"NoneType", "PartialType", "bool", "bytes", "dict", "float",
                                         "int",      "list",        "set",  "str",   "tuple"};
  return value.is(Tag::kString) &&
         std::find(std::begin(kNames), std::end(kNames), value.bytes()) != std::end(kNames);
}

/// A functools.partial of the one function that torch wraps so, before and after its state is set.
bool is_opaque_partial(const ObjectNode& object) {
  const auto is_target = [](const Value& value) {
    return is_global(value, "torch.utils._sympy.functions", "make_opaque_bitwise_fn");
  };
  const auto args = items_of(object.args);
  if (args.size() != 1 || !is_target(args[0])) return false;
  return std::all_of(object.states.items().begin(), object.states.items().end(), [&](const Value& state) {
    return state.is(Tag::kTuple) && !items_of(state).empty() && is_target(items_of(state)[0]);
  });
}

/// dill writes functools.partial as a type that is looked up by name.
bool is_dill_partial(const ObjectNode& object) {
  if (!object.callable.is(Tag::kObject)) return false;
  const ObjectNode& lookup = object.callable.object();
  const auto args = items_of(lookup.args);
  return is_global(lookup.callable, "dill._dill", "_load_type") && args.size() == 1 &&
         text_or(args[0]) == "PartialType";
}

}  // namespace

bool is_scalar(const Value& value) {
  switch (value.tag()) {
    case Tag::kNone:
    case Tag::kBool:
    case Tag::kInt:
    case Tag::kBigInt:
    case Tag::kFloat:
    case Tag::kString:
      return true;
    default:
      return false;
  }
}

bool fits(Shape shape, std::span<const Value> args) {
  const auto all = [&](auto predicate) { return std::all_of(args.begin(), args.end(), predicate); };
  switch (shape) {
    case Shape::kAny:
      return true;
    case Shape::kNothing:
      return args.empty();
    case Shape::kScalars:
      return all(is_scalar);
    case Shape::kText:
      return all([](const Value& value) { return value.is(Tag::kString); });
    case Shape::kOneInt:
      return args.size() == 1 && args[0].is(Tag::kInt);
    case Shape::kOneContainer:
      return args.empty() || (args.size() == 1 && is_container(args[0]));
    case Shape::kSequence:
      return args.empty() || (args.size() == 1 && (is_container(args[0]) || args[0].is(Tag::kBytes)));
    case Shape::kFactory:
      return args.empty() || (args.size() == 1 && is_factory(args[0]));
    case Shape::kExpressions:
      return all(is_expression);
    case Shape::kAttribute:
      return fits_attribute(args);
    case Shape::kLatin1:
      return args.size() == 2 && args[0].is(Tag::kString) && args[1].is(Tag::kString) &&
             args[1].bytes() == "latin1";
    case Shape::kTypeName:
      return args.size() == 1 && is_type_name(args[0]);
    case Shape::kNone:
      return args.size() == 1 && args[0].is_none();
    case Shape::kLegacyStream:
    case Shape::kPickle:
      return args.size() == 1 && args[0].is(Tag::kBytes);
  }
  return false;
}

bool may_be_called(const ObjectNode& maker, const ObjectNode& call) {
  const auto args = items_of(call.args);
  const auto made_with = items_of(maker.args);
  const bool plain =
      call.construction == Construction::kReduce && call.appended.size == 0 && call.items.size == 0;
  if (!plain) return false;
  if (is_global(maker.callable, "builtins", "type")) return args.empty() && call.states.size == 0;
  if (is_global(maker.callable, "builtins", "getattr")) {
    return fits_attribute(made_with) && made_with[0].is(Tag::kGlobal) && call.states.size == 0 &&
           callable_attribute(made_with[0].global().module, made_with[0].global().name, made_with[1].bytes());
  }
  if (is_global(maker.callable, "dill._dill", "_load_type")) {
    const std::string_view type = made_with.empty() ? std::string_view{} : text_or(made_with[0]);
    return type == "NoneType" ? args.empty() && call.states.size == 0
                              : type == "PartialType" && is_opaque_partial(call);
  }
  const bool partial = is_global(maker.callable, "functools", "partial") || is_dill_partial(maker);
  return partial && is_opaque_partial(maker) && args.size() == 1 && args[0].is(Tag::kString) &&
         call.states.size == 0;
}

}  // namespace cachetool::pickle
