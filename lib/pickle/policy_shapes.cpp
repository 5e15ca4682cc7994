// What arguments and states a listed constructor may be given.

#include "pickle/policy_shapes.h"

#include <algorithm>
#include <iterator>

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

bool is_integer(const Value& value) {
  return value.is(Tag::kInt) || value.is(Tag::kBigInt);
}

/// True when `value` was made by calling `name`, or any name that starts with it when it ends with a dot.
bool is_made_by(const Value& value, std::string_view name) {
  if (!value.is(Tag::kObject) || !value.object().callable.is(Tag::kGlobal)) return false;
  const GlobalNode& maker = value.object().callable.global();
  const std::size_t module = maker.module.size();
  if (!name.starts_with(maker.module) || name.size() <= module || name[module] != '.') return false;
  const std::string_view rest = name.substr(module + 1);
  return rest.empty() || rest == maker.name;
}

bool is_plain_maker(const Value& maker, std::string_view module, std::string_view prefix) {
  return maker.is(Tag::kGlobal) && maker.global().module == module && maker.global().name.starts_with(prefix);
}

/// What defaultdict calls for a missing key: a listed class of data, or what was looked up.
bool is_factory(const Value& value) {
  if (value.is_none() || is_lookup(value)) return true;
  if (!value.is(Tag::kGlobal)) return false;
  const std::string_view module = value.global().module;
  const Rule* rule = find_rule(module, value.global().name);
  return rule != nullptr && (rule->roles & kBare) != 0 &&
         (module == "builtins" || module == "collections" || module == "torch._dynamo.pgo");
}

/// sympify evaluates text, and it looks for text inside containers and iterables.
bool is_expression(const Value& value) {
  switch (value.tag()) {
    case Tag::kNone:
    case Tag::kBool:
    case Tag::kInt:
    case Tag::kBigInt:
    case Tag::kFloat:
      return true;
    case Tag::kGlobal:
      return value.global().module.starts_with("sympy.") ||
             value.global().module.starts_with("torch.utils._sympy.");
    case Tag::kObject: {
      const Value& callable = value.object().callable;
      return callable.is(Tag::kGlobal) && (callable.global().module.starts_with("sympy.") ||
                                           callable.global().module.starts_with("torch.utils._sympy."));
    }
    default:
      return false;
  }
}

/// Letters, digits and what stands between them: a subclass of str goes where torch evaluates text.
bool is_version(const Value& value) {
  const std::string_view text = text_or(value);
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c == '.' || c == '+' || c == '-' || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
  });
}

bool is_tuple_of_integers(const Value& value) {
  const auto items = items_of(value);
  return value.is(Tag::kTuple) && std::all_of(items.begin(), items.end(), is_integer);
}

/// A tuple of integers and of symbolic ones that a stored graph makes.
bool is_sizes(const Value& value) {
  const auto items = items_of(value);
  return value.is(Tag::kTuple) && std::all_of(items.begin(), items.end(), [](const Value& item) {
           return is_integer(item) ||
                  is_made_by(item, "torch.fx._graph_pickler._SymNodePickleData.unpickle_sym_int");
         });
}

bool is_storage(const Value& value) {
  return is_made_by(value, "torch.storage._load_from_bytes") || value.is(Tag::kPersistent);
}

bool is_tensor(const Value& value) {
  return value.is(Tag::kObject) && is_plain_maker(value.object().callable, "torch._utils", "_rebuild_");
}

/// The hooks of a stored tensor: an OrderedDict that holds none.
bool is_empty_hooks(const Value& value) {
  if (!is_made_by(value, "collections.OrderedDict")) return false;
  const ObjectNode& hooks = value.object();
  return items_of(hooks.args).empty() && hooks.items.size == 0 && hooks.states.size == 0;
}

bool fits_attribute(std::span<const Value> args) {
  if (args.size() != 2 || !args[1].is(Tag::kString)) return false;
  const Value owner = args[0].is(Tag::kObject) ? args[0].object().callable : args[0];
  return owner.is(Tag::kGlobal) &&
         allowed_attribute(owner.global().module, owner.global().name, args[1].bytes());
}

struct Kind {
  std::string_view name;
  bool (*matches)(const Value&);
};

template <Tag... tags>
bool has_tag(const Value& value) {
  return (value.is(tags) || ...);
}

constexpr Kind kKinds[] = {
    {"none", has_tag<Tag::kNone>},
    {"bool", has_tag<Tag::kBool>},
    {"int", is_integer},
    {"text", has_tag<Tag::kString>},
    {"scalar", is_scalar},
    {"version", is_version},
    {"tuple", has_tag<Tag::kTuple>},
    {"list", has_tag<Tag::kList>},
    {"dict", has_tag<Tag::kDict>},
    {"container", is_container},
    // What an integer would make a huge allocation of.
    {"sequence", [](const Value& value) { return is_container(value) || value.is(Tag::kBytes); }},
    {"name", has_tag<Tag::kGlobal>},
    {"persistent", has_tag<Tag::kPersistent>},
    {"ints", is_tuple_of_integers},
    {"sizes", is_sizes},
    {"factory", is_factory},
    {"expr", is_expression},
    {"storage", is_storage},
    {"tensor", is_tensor},
    {"hooks", is_empty_hooks},
    {"stream", has_tag<Tag::kBytes>},  // a legacy torch.save stream, looked into
    {"pickle", has_tag<Tag::kBytes>},  // looked into
};

/// `kind`: one of the above, `=text` for exactly that text, `@module.name` for the result of that call.
bool is_one(std::string_view kind, const Value& value) {
  if (kind.starts_with('=')) return value.is(Tag::kString) && value.bytes() == kind.substr(1);
  if (kind.starts_with('@')) return is_made_by(value, kind.substr(1));
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const Kind& candidate) { return candidate.name == kind; });
  return found != std::end(kKinds) && found->matches(value);
}

/// Takes the part before `separator` off the front of `text`.
std::string_view take(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

bool is_any(std::string_view kinds, const Value& value) {
  while (!kinds.empty()) {
    if (is_one(take(kinds, '|'), value)) return true;
  }
  return false;
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

bool fits(std::string_view arguments, std::span<const Value> args) {
  if (arguments == "attribute") return fits_attribute(args);
  std::size_t at = 0;
  while (!arguments.empty()) {
    std::string_view kinds = take(arguments, ' ');
    const char suffix = kinds.back();
    const bool repeated = suffix == '*';
    const bool optional = suffix == '?';
    if (repeated || optional) kinds.remove_suffix(1);
    std::size_t taken = 0;
    while (at < args.size() && (repeated || taken == 0) && is_any(kinds, args[at])) {
      ++at;
      ++taken;
    }
    if (taken == 0 && !repeated && !optional) return false;
  }
  return at == args.size();
}

std::string_view state_form(const Value& state) {
  switch (state.tag()) {
    case Tag::kDict:
      return "dict";
    case Tag::kList:
      return "list";
    case Tag::kInt:
      return "int";
    case Tag::kString:
      return "text";
    case Tag::kTuple: {
      const auto parts = items_of(state);
      const bool pair =
          parts.size() == 2 && (parts[0].is_none() || parts[0].is(Tag::kDict)) && parts[1].is(Tag::kDict);
      return pair ? "pair" : "tuple";
    }
    default:
      return "other";
  }
}

bool is_plain_attribute(std::string_view name) {
  if (name.empty() || (name.front() == '_' && name.back() == '_')) return false;
  if (name == "extend" || name == "append" || name == "add") return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

bool is_lookup(const Value& value) {
  if (!value.is(Tag::kObject)) return false;
  const Value& callable = value.object().callable;
  return !callable.is(Tag::kGlobal) || is_global(callable, "builtins", "getattr") ||
         is_global(callable, "builtins", "type") || is_global(callable, "dill._dill", "_load_type") ||
         is_global(callable, "functools", "partial");
}

bool is_function(const Value& value) {
  return value.is(Tag::kObject) &&
         (is_global(value.object().callable, "builtins", "getattr") ||
          is_global(value.object().callable, "functools", "partial") || is_dill_partial(value.object()));
}

bool is_artifact_loader(const Value& function) {
  const auto args = items_of(function.object().args);
  return args.size() == 2 && text_or(args[1]) == "deserialize_compile_artifacts";
}

bool is_opaque_partial(const ObjectNode& object) {
  const auto is_target = [](const Value& value) {
    return is_global(value, "torch.utils._sympy.functions", "make_opaque_bitwise_fn");
  };
  const auto args = items_of(object.args);
  if (args.size() != 1 || !is_target(args[0])) return false;
  return std::all_of(object.states.items().begin(), object.states.items().end(), [&](const Value& state) {
    const auto parts = items_of(state);
    // (function, arguments, keywords, attributes): functools.partial.__reduce__
    if (!state.is(Tag::kTuple) || parts.size() != 4 || !is_target(parts[0])) return false;
    if (!items_of(parts[1]).empty() || !parts[2].is(Tag::kDict) || !parts[3].is_none()) return false;
    const auto keywords = parts[2].dict().pairs();
    return std::all_of(keywords.begin(), keywords.end(),
                       [](const Pair& pair) { return is_scalar(pair.key) && is_scalar(pair.value); });
  });
}

bool may_be_called(const ObjectNode& maker, const ObjectNode& call) {
  const auto args = items_of(call.args);
  const auto made_with = items_of(maker.args);
  const bool plain =
      call.construction == Construction::kReduce && call.appended.size == 0 && call.items.size == 0;
  if (!plain) return false;
  if (is_global(maker.callable, "builtins", "type")) return args.empty() && call.states.size == 0;
  if (is_global(maker.callable, "builtins", "getattr")) {
    // (meta tensor, device, class, dispatch keys, gradient): torch/_dynamo/guards.py, _unpickle_tensor, 2.9
    return fits_attribute(made_with) && made_with[0].is(Tag::kGlobal) && call.states.size == 0 &&
           callable_attribute(made_with[0].global().module, made_with[0].global().name,
                              made_with[1].bytes()) &&
           fits("tensor @torch.device name int none|tensor", args);
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
