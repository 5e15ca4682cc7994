#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace cachetool::pickle {

/// What a global that only builds data may be used for. Bits of `Rule::roles`; the letters are those of
/// allow_list.inc.
enum Role : std::uint8_t {
  kBare = 1,       ///< b: named as a value: a dtype, a class, a function that is stored and not called
  kField = 2,      ///< f: stored, but only in the attribute of an object whose rule says that it holds one
  kCall = 4,       ///< c: REDUCE: called with arguments
  kNew = 8,        ///< n: NEWOBJ: its __new__ is called
  kKeywords = 16,  ///< k: NEWOBJ_EX: the same with keywords
  kState = 32,     ///< s: BUILD sets the state of what it made
  kAppend = 64,    ///< a: APPEND(S), ADDITEMS on what it made
  kItems = 128,    ///< i: SETITEM(S) on what it made
};

/// One line of allow_list.inc, which explains the columns.
struct Rule {
  std::string_view module;
  std::string_view name;
  std::uint8_t roles = 0;
  std::string_view arguments;
  std::string_view states;
  std::string_view releases;
  std::string_view places;
  std::string_view reason;
};

/// All of them, sorted by module and name.
std::span<const Rule> rules();

/// The rule for exactly this global, or null. From what torch 2.4 to 2.15 and vLLM 0.11 to 0.33 store in
/// caches.
const Rule* find_rule(std::string_view module, std::string_view name);

/// True when `words`, separated by blanks, hold `word`, which has no blanks.
bool has_word(std::string_view words, std::string_view word);

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
