#pragma once

#include <span>
#include <string_view>

#include "pickle/policy_rules.h"
#include "pickle/value.h"

namespace cachetool::pickle {

/// A number, boolean, None or text.
bool is_scalar(const Value& value);

/// True when a constructor whose rule has these `arguments` may be given `args`. Every value among them is
/// judged by itself as well.
bool fits(std::string_view arguments, std::span<const Value> args);

/// The word for a state's form in `Rule::states`: "dict", "pair" for (dict or None, dict), "list", "tuple",
/// "int", "text", "other".
std::string_view state_form(const Value& state);

/// True for attribute names that neither Python nor a library gives a meaning of its own: no dunder, nothing
/// like _sympy_, nothing that isn't a name. `extend`, `append` and `add` are what APPENDS and ADDITEMS look
/// up.
bool is_plain_attribute(std::string_view name);

/// The result of looking something up or wrapping it: what may turn out to be callable.
bool is_lookup(const Value& value);

/// A bound method or a partial, as a value.
bool is_function(const Value& value);

/// True for the function that a compiled function is stored with, in a tuple with its bytes
/// (torch/_dynamo/aot_compile.py, 2.9; vllm/compilation/caching.py).
bool is_artifact_loader(const Value& function);

/// What a pickle may call although it isn't a name: `maker` is the result of another call that torch applies,
/// in one form only (a bound method that rebuilds data, a type or partial that is looked up); `call` applies
/// it.
bool may_be_called(const ObjectNode& maker, const ObjectNode& call);

/// True for a functools.partial of the one function that torch wraps so, before and after its state is set.
bool is_opaque_partial(const ObjectNode& object);

}  // namespace cachetool::pickle
