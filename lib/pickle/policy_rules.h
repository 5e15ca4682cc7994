#pragma once

#include <cstdint>
#include <string_view>

namespace cachetool::pickle {

/// What a global that only builds data may be used for. Bits of `Rule::roles`.
enum Role : std::uint8_t {
  kBare = 1,     ///< named as a value: a dtype, a class, a function that is stored and not called
  kCall = 2,     ///< REDUCE (and INST, OBJ): called with arguments
  kNew = 4,      ///< NEWOBJ, NEWOBJ_EX: its __new__ is called
  kBuild = 8,    ///< BUILD sets the state of what it made
  kAppend = 16,  ///< APPEND(S), ADDITEMS on what it made
  kItems = 32,   ///< SETITEM(S) on what it made
};

/// Arguments that a constructor may be given. Every value among them is judged by itself as well.
enum class Shape : std::uint8_t {
  kAny,
  kNothing,
  kScalars,       ///< numbers, booleans, None, text
  kText,          ///< text only
  kOneInt,        ///< an enum by its value
  kOneContainer,  ///< nothing, or one list, tuple, set or dict
  kSequence,      ///< nothing, or one list, tuple, set, dict or bytes: what an integer would make a huge
                  ///< allocation of
  kFactory,  ///< nothing, None, one bare class of builtins or collections, or a bound method or type that was
             ///< looked up
  kExpressions,   ///< numbers, booleans, globals and objects; no text and no containers, which sympify would
                  ///< evaluate
  kAttribute,     ///< (object or class, method name): only the pairs in `allowed_attribute`
  kLatin1,        ///< (text, "latin1")
  kTypeName,      ///< one text out of the few that dill's hook stores
  kNone,          ///< None alone
  kLegacyStream,  ///< one bytes: a legacy torch.save stream, looked into
  kPickle,        ///< one bytes: a pickle, looked into
};

struct Rule {
  std::uint8_t roles = 0;
  Shape shape = Shape::kAny;
};

/// The rule for exactly this global, or null. From what torch 2.4 to 2.15 and vLLM 0.11 to 0.33 store in
/// caches.
const Rule* find_rule(std::string_view module, std::string_view name);

/// The method names that getattr may look up on an instance or class `module.name`: bound methods that torch
/// stores, never called while loading.
bool allowed_attribute(std::string_view module, std::string_view name, std::string_view attribute);

/// True for the attributes above that a pickle of torch's goes on to call: static helpers that rebuild data.
bool callable_attribute(std::string_view module, std::string_view name, std::string_view attribute);

/// True for names of functions that a stored graph may call (torch/fx/_graph_pickler.py:
/// _OpFunctionPickleData, 2.13): `root` is the module that torch resolves `name` in.
bool allowed_graph_function(std::string_view root, std::string_view name);

/// Why `module.name` is known to run code, touch files or reach the network; empty for everything else. Only
/// makes a finding clearer: what isn't in the rules is a finding without it.
std::string_view danger_of(std::string_view module, std::string_view name);

}  // namespace cachetool::pickle
