#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachetool::change {

/// The lock files that torch holds while it writes the file at `path`, whether they exist or not; paths below
/// the same root. By place and name, at any depth (vLLM has whole Inductor roots inside its own):
/// `<xx>/<key>.…` and AOTInductor's `<K>/<key>.…` lock `locks/<key>.lock` (torch/_inductor/codecache.py:
/// CppCodeCache.load_async, AotCodeCompiler.compile, 2.9), `precompiled_headers/<key>.…` its own `locks/`
/// (_precompile_header), `dynamo/<file>` `<file>.lock` (torch/_dynamo/pgo.py), `memoizer_cache.json` its
/// neighbour. Entries, Python modules, autotune results and Triton directories have none.
std::vector<std::string> torch_locks_of(std::string_view path);

/// Whether a file of that name is one of torch's locks (`<key>.lock`, Halide's `lock`).
bool is_lock_name(std::string_view name);

}  // namespace cachetool::change
