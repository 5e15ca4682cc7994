#include "verify/doctor/variables.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/redact.h"
#include "store/paths.h"

namespace cachetool::verify {
namespace {

/// Where the value of a variable that isn't set is found.
enum class Absent : std::uint8_t {
  kHidden,  ///< it says nothing then, and isn't listed
  kText,    ///< `fallback` holds
  kRoot,    ///< torch sets it to its cache
  kTriton,  ///< torch sets it to a directory in its cache
};

struct Known {
  std::string_view name;
  std::string_view meaning;
  Absent absent = Absent::kHidden;
  std::string_view fallback = {};
};

constexpr Known kKnown[] = {
    {"TORCHINDUCTOR_CACHE_DIR", "Inductor's cache", Absent::kRoot},
    {"TRITON_CACHE_DIR", "Triton's cache", Absent::kTriton},
    {"TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1 turns every cache off", Absent::kText, "0"},
    {"TORCH_COMPILE_FORCE_DISABLE_CACHES", "the same, since 2.9"},
    {"TORCHINDUCTOR_FX_GRAPH_CACHE", "cache of compiled graphs", Absent::kText, "1 (2.4: 0)"},
    {"TORCHINDUCTOR_AUTOGRAD_CACHE", "cache of AOTAutograd results", Absent::kText, "1 (to 2.6: 0)"},
    {"ENABLE_AOT_AUTOGRAD_CACHE", "the same in 2.5"},
    {"TORCHINDUCTOR_BUNDLE_TRITON_INTO_FX_GRAPH_CACHE", "kernels are kept in the entries too"},
    {"TORCHINDUCTOR_FX_GRAPH_REMOTE_CACHE", "remote cache of compiled graphs", Absent::kText, "0"},
    {"TORCHINDUCTOR_AUTOGRAD_REMOTE_CACHE", "remote cache of AOTAutograd results"},
    {"TORCHINDUCTOR_AUTOTUNE_REMOTE_CACHE", "remote cache of autotune results"},
    {"TORCHINDUCTOR_BUNDLED_AUTOTUNE_REMOTE_CACHE", "remote cache of autotune results, bundled"},
    {"TORCHINDUCTOR_REDIS_URL", "where the remote cache is"},
    {"TORCHINDUCTOR_REDIS_HOST", "where the remote cache is"},
    {"TORCHINDUCTOR_REDIS_PORT", "where the remote cache is"},
    {"TORCH_COMPILE_CACHE_KEY_TAG", "part of every key"},
    {"TORCHINDUCTOR_COMPILE_THREADS", "processes that compile kernels", Absent::kText,
     "as many as processors, at most 32"},
    {"TORCHINDUCTOR_FILE_LOCK_TIMEOUT", "seconds to wait for a lock, since 2.15"},
    {"TORCHINDUCTOR_FREEZING", "part of the key: folds parameters into graphs"},
    {"TORCHINDUCTOR_CPP_WRAPPER", "part of the key: wrappers in C++"},
    {"TORCHINDUCTOR_MAX_AUTOTUNE", "part of the key: more candidates per kernel"},
    {"TORCHINDUCTOR_VEC_ISA_OK", "skips the probes of vector instructions"},
    {"ATEN_CPU_CAPABILITY", "vector instructions of CPU kernels"},
    {"TORCH_COMPILE_DISABLE", "1: torch.compile does nothing", Absent::kText, "0"},
    {"TORCHDYNAMO_DISABLE", "1: torch.compile does nothing"},
    {"TORCH_COMPILE_DEBUG", "dumps of each compilation"},
    {"TORCH_COMPILE_JOB_ID", "key of profiles in dynamo/"},
    {"TORCH_CACHING_PRECOMPILE", "cache of whole compiled functions"},
    {"TORCH_LOGS", "what is logged"},
    {"TORCH_TRACE", "directory of structured logs"},
    {"TRITON_HOME", "where .triton is, for Triton outside Inductor"},
    {"TRITON_CACHE_MANAGER", "another cache than files"},
    {"TRITON_ALWAYS_COMPILE", "1: kernels of the cache are not used", Absent::kText, "0"},
    {"TRITON_STORE_BINARY_ONLY", "1: no intermediate code in the cache"},
    {"TRITON_CACHE_AUTOTUNING", "1: results of @triton.autotune are kept"},
    {"TRITON_OVERRIDE_ARCH", "kernels for another GPU"},
    {"VLLM_CACHE_ROOT", "vLLM's caches"},
    {"VLLM_DISABLE_COMPILE_CACHE", "1 turns vLLM's compile cache off"},
    {"VLLM_COMPILE_CACHE_SAVE_FORMAT", "binary or unpacked artifacts"},
    {"VLLM_USE_STANDALONE_COMPILE", "artifacts instead of an Inductor cache"},
    {"VLLM_USE_AOT_COMPILE", "whole compiled models"},
    {"VLLM_USE_MEGA_AOT_ARTIFACT", "all code in one file"},
    {"TORCH_EXTENSIONS_DIR", "compiled extensions"},
    {"TORCH_HOME", "models and checkpoints of torch.hub"},
    {"XDG_CACHE_HOME", "base of vLLM's caches and others"},
    {"TMPDIR", "temporary directory"},
    {"TEMP", "temporary directory, after TMPDIR"},
    {"TMP", "temporary directory, after TEMP"},
    {"HOME", "home, for Triton and vLLM", Absent::kText, "not set"},
    {"LOGNAME", "the user's name in the default cache"},
    {"USER", "the same, after LOGNAME"},
    {"LNAME", "the same, after USER"},
    {"USERNAME", "the same, after LNAME"},
    {"CXX", "compiler of CPU kernels", Absent::kText, "g++"},
    {"CC", "compiler of Triton's launchers"},
    {"CUDA_HOME", "CUDA toolkit"},
    {"CUDA_VISIBLE_DEVICES", "GPUs that are used"},
    {"CUDA_CACHE_PATH", "the driver's cache of compiled PTX"},
    {"CUDA_CACHE_DISABLE", "1: the driver keeps no compiled PTX"},
};

constexpr std::string_view kPrefixes[] = {"TORCHINDUCTOR_", "TORCH_INDUCTOR", "TORCH_COMPILE", "TORCHDYNAMO_",
                                          "TORCH_DYNAMO",   "TORCH_LOGS",     "TRITON_",       "VLLM_",
                                          "CUDA_",          "AOT_INDUCTOR"};

bool has_known_prefix(std::string_view name) {
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string fallback_of(const Known& known, const CacheChoice& choice) {
  switch (known.absent) {
    case Absent::kRoot:
      return choice.default_root;
    case Absent::kTriton:
      return store::join_path(choice.path, "triton/<device>");
    default:
      return std::string(known.fallback);
  }
}

/// Insertions, removals, changes and swaps of neighbours that turn `a` into `b`, as far as they are at most
/// `limit`; else more than that.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (a.size() > b.size() + limit || b.size() > a.size() + limit) return limit + 1;
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view value_source_name(ValueSource source) {
  constexpr std::array<std::string_view, 3> kNames = {"set", "default", "torch"};
  return kNames[static_cast<std::size_t>(source)];
}

std::vector<Variable> list_variables(const store::Environment& environment, const CacheChoice& choice) {
  std::vector<Variable> result;
  std::set<std::string_view> listed;
  for (const Known& known : kKnown) {
    const auto value = environment.get(known.name);
    listed.insert(known.name);
    if (value) {
      result.push_back(
          {std::string(known.name), redact_value(known.name, *value), ValueSource::kSet, known.meaning});
    } else if (known.absent != Absent::kHidden) {
      const bool by_torch = known.absent != Absent::kText;
      result.push_back({std::string(known.name), fallback_of(known, choice),
                        by_torch ? ValueSource::kTorch : ValueSource::kDefault, known.meaning});
    }
  }
  for (const auto& [name, value] : environment.variables) {
    if (has_known_prefix(name) && !listed.contains(name))
      result.push_back({name, redact_value(name, value), ValueSource::kSet, {}});
  }
  return result;
}

std::vector<Misspelt> find_misspelt(const store::Environment& environment) {
  constexpr std::size_t kMaxEdits = 2;
  constexpr std::size_t kMaxLength = 80;
  const auto known = known_variables();
  std::vector<Misspelt> result;
  for (const auto& [name, value] : environment.variables) {
    const bool candidate = has_known_prefix(name) || name.starts_with("TORCH") ||
                           name.starts_with("TRITON") || name.starts_with("INDUCTOR");
    if (!candidate || name.size() > kMaxLength) continue;
    if (std::binary_search(known.begin(), known.end(), std::string_view(name))) continue;
    std::size_t best = kMaxEdits + 1;
    std::string_view meant;
    for (const std::string_view other : known) {
      const std::size_t distance = edit_distance(name, other, kMaxEdits);
      if (distance < best) best = distance, meant = other;
    }
    if (best <= kMaxEdits) result.push_back({name, meant});
  }
  return result;
}

std::optional<bool> switch_value(const store::Environment& environment, std::string_view name) {
  const auto value = environment.get(name);
  if (!value) return std::nullopt;
  return !value->empty() && *value != "0";
}

}  // namespace cachetool::verify
