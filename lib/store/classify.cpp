#include "store/classify.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/text.h"
#include "store/paths.h"

namespace cachetool::store {
namespace {

using Components = std::span<const std::string_view>;

bool all_of(std::string_view text, bool (*accept)(char)) {
  return std::all_of(text.begin(), text.end(), accept);
}

bool is_base32_lower(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7');
}
bool is_base32_upper(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= '2' && c <= '7');
}
bool is_base64_url(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-' || c == '_';
}
bool is_mkdtemp(char c) {
  return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_';
}

std::optional<torch::HashName> parse_hash(std::string_view text, char prefix) {
  auto name = torch::HashName::parse(text);
  if (name && name->prefix != prefix) name.reset();
  return name;
}

using SuffixRule = std::pair<std::string_view, ArtifactKind>;

// What follows the `c…` stem of a file in a shard directory.
constexpr std::array kStemSuffixes{
    SuffixRule{"py", ArtifactKind::kPythonModule},
    SuffixRule{"cpp", ArtifactKind::kCppSource},
    SuffixRule{"main.cpp", ArtifactKind::kCppSource},
    SuffixRule{"wrapper.cpp", ArtifactKind::kCppSource},
    SuffixRule{"kernel.cpp", ArtifactKind::kCppSource},
    SuffixRule{"optimized.cpp", ArtifactKind::kOptimizedSource},
    SuffixRule{"h", ArtifactKind::kHeader},
    SuffixRule{"h.gch", ArtifactKind::kPrecompiledHeader},
    SuffixRule{"gch", ArtifactKind::kPrecompiledHeader},
    SuffixRule{"h.pch", ArtifactKind::kPrecompiledHeader},
    SuffixRule{"pch", ArtifactKind::kPrecompiledHeader},
    SuffixRule{"so", ArtifactKind::kSharedObject},
    SuffixRule{"main.so", ArtifactKind::kSharedObject},
    SuffixRule{"optimized.so", ArtifactKind::kSharedObject},
    SuffixRule{"wrapper.so", ArtifactKind::kSharedObject},
    SuffixRule{"o", ArtifactKind::kObjectFile},
    SuffixRule{"main.o", ArtifactKind::kObjectFile},
    SuffixRule{"optimized.o", ArtifactKind::kObjectFile},
    SuffixRule{"wrapper.o", ArtifactKind::kObjectFile},
    SuffixRule{"kernel.o", ArtifactKind::kObjectFile},
    SuffixRule{"so.load_ok", ArtifactKind::kLoadMarker},
    SuffixRule{"main.so.load_ok", ArtifactKind::kLoadMarker},
    SuffixRule{"so.error", ArtifactKind::kBuildError},
    SuffixRule{"o.error", ArtifactKind::kBuildError},
    SuffixRule{"cubin", ArtifactKind::kGpuBinary},
    SuffixRule{"hsaco", ArtifactKind::kGpuBinary},
    SuffixRule{"fatbin", ArtifactKind::kGpuBinary},
    SuffixRule{"ptx", ArtifactKind::kGpuBinary},
    SuffixRule{"spv", ArtifactKind::kGpuBinary},
    SuffixRule{"kernel_perf", ArtifactKind::kKernelPerf},
    SuffixRule{"cu", ArtifactKind::kCutlass},
    SuffixRule{"lock", ArtifactKind::kLock},
    SuffixRule{"wrapper_metadata.json", ArtifactKind::kAotiFile},
    SuffixRule{"kernel_metadata.json", ArtifactKind::kAotiFile},
};

Classified classify_stem_file(std::string_view file) {
  const std::size_t dot = file.find('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view stem = file.substr(0, dot);
  const std::string_view suffix = file.substr(dot + 1);
  if (suffix == "best_config" && is_hex(stem, 64)) return {ArtifactKind::kBestConfig, std::nullopt};
  const auto hash = parse_hash(stem, 'c');
  if (!hash) return {};
  if (suffix == "best_config") return {ArtifactKind::kBestConfig, std::nullopt};  // torch up to 2.5
  for (const auto& [text, kind] : kStemSuffixes) {
    if (suffix == text) return {kind, hash};
  }
  return {};
}

Classified classify_shard(Components rest) {
  if (rest.size() == 1) return classify_stem_file(rest[0]);
  const std::string_view directory = rest[0];
  const auto is_stem_with = [&](std::string_view ending) {
    return directory.ends_with(ending) &&
           parse_hash(directory.substr(0, directory.find_first_of("._")), 'c').has_value();
  };
  if (is_stem_with(".halide"))
    return {rest.back() == "lock" ? ArtifactKind::kLock : ArtifactKind::kHalide, std::nullopt};
  if (is_stem_with("_CxxBuild")) return {ArtifactKind::kBuildScratch, std::nullopt};
  if (is_stem_with(".debug")) return {ArtifactKind::kDebugDump, std::nullopt};
  return {};
}

constexpr std::array kTritonSuffixes{
    SuffixRule{".autotune.json", ArtifactKind::kTritonAutotune},
    SuffixRule{".json", ArtifactKind::kTritonMetadata},
    SuffixRule{".ttir", ArtifactKind::kTritonIr},
    SuffixRule{".ttgir", ArtifactKind::kTritonIr},
    SuffixRule{".llir", ArtifactKind::kTritonIr},
    SuffixRule{".ptx", ArtifactKind::kTritonIr},
    SuffixRule{".amdgcn", ArtifactKind::kTritonIr},
    SuffixRule{".source", ArtifactKind::kTritonSource},
    SuffixRule{".cubin", ArtifactKind::kTritonBinary},
    SuffixRule{".hsaco", ArtifactKind::kTritonBinary},
    SuffixRule{".spv", ArtifactKind::kTritonBinary},
    SuffixRule{".zebin", ArtifactKind::kTritonBinary},
};

ArtifactKind classify_triton_file(std::string_view file) {
  if (file == "lock") return ArtifactKind::kLock;
  if (file.starts_with("__grp__") && file.ends_with(".json")) return ArtifactKind::kTritonGroup;
  const bool is_library = file.ends_with(".so") || file.ends_with(".pyd");
  if (is_library && file.starts_with("__triton_launcher")) return ArtifactKind::kTritonLauncher;
  if (is_library && file.find("_utils") != std::string_view::npos) return ArtifactKind::kTritonDriver;
  for (const auto& [suffix, kind] : kTritonSuffixes) {
    if (file.size() > suffix.size() && file.ends_with(suffix)) return kind;
  }
  return ArtifactKind::kTritonOther;
}

Classified classify_triton(Components path) {
  // ~/.triton itself: the cache and, on request, dumps and overrides of the same layout.
  if (path.size() > 1 && (path[0] == "cache" || path[0] == "dump" || path[0] == "override"))
    path = path.subspan(1);
  if (path.size() == 1) {
    const bool is_lock =
        path[0].ends_with(".lock") && is_triton_directory_name(path[0].substr(0, path[0].size() - 5));
    return {is_lock ? ArtifactKind::kLock : ArtifactKind::kUnknown, std::nullopt};
  }
  if (path.size() != 2 || !is_triton_directory_name(path[0])) return {};
  return {classify_triton_file(path[1]), std::nullopt};
}

ArtifactKind classify_dynamo(Components rest) {
  const std::string_view file = rest.back();
  if (file.ends_with(".lock")) return ArtifactKind::kLock;
  if (rest[0].starts_with("code_state_")) return ArtifactKind::kPgoState;
  if (rest.size() == 2 && file == "entry") return ArtifactKind::kPrecompile;
  return ArtifactKind::kUnknown;
}

ArtifactKind classify_precompiled_header(std::string_view file) {
  if (file.ends_with(".lock")) return ArtifactKind::kLock;
  if (file.ends_with(".gch") || file.ends_with(".pch")) return ArtifactKind::kPrecompiledHeader;
  if (file.ends_with(".h")) return ArtifactKind::kHeader;
  return ArtifactKind::kUnknown;
}

struct NamedDirectory {
  std::string_view name;
  ArtifactKind kind;
};

// Directories of an Inductor root in which everything (but locks) is of one kind.
constexpr std::array kNamedDirectories{
    NamedDirectory{"cache", ArtifactKind::kBenchmarkCache},
    NamedDirectory{"aoti_eager", ArtifactKind::kEagerAoti},
    NamedDirectory{"cutedsl_compile_cache", ArtifactKind::kCuteDsl},
    NamedDirectory{"flydsl_compile_cache", ArtifactKind::kCuteDsl},
    NamedDirectory{"quack", ArtifactKind::kCuteDsl},
    NamedDirectory{"autoheuristic", ArtifactKind::kAutoHeuristic},
    NamedDirectory{"unhashed_kernel_inputs", ArtifactKind::kDebugDump},
    NamedDirectory{"bisect", ArtifactKind::kDebugDump},
    NamedDirectory{"gcc", ArtifactKind::kInductorOther},
    NamedDirectory{"torch_cutlass", ArtifactKind::kCutlass},
};

ArtifactKind classify_top_file(std::string_view file) {
  if (file == "memoizer_cache.json") return ArtifactKind::kMemoizer;
  if (file.ends_with(".lock")) return ArtifactKind::kLock;
  if (file.starts_with("configs_") && file.ends_with(".json")) return ArtifactKind::kInductorOther;
  if (file.starts_with("inductor_const_spill_")) return ArtifactKind::kInductorOther;
  if (file.ends_with(".pt2")) return ArtifactKind::kAotiPackage;
  return ArtifactKind::kUnknown;
}

Classified classify_inductor(Components path) {
  // A process with its caches switched off works in a fresh directory of the same layout inside the root.
  while (path.size() > 1 && is_fresh_cache_name(path[0])) path = path.subspan(1);
  const std::string_view top = path[0];
  if (path.size() == 1) return {classify_top_file(top), std::nullopt};
  const Components rest = path.subspan(1);
  const std::string_view file = rest.back();

  if (top == "fxgraph") {
    const bool placed = rest.size() == 3 && parse_hash(rest[1], 'f') && rest[1].substr(1, 2) == rest[0];
    if (!placed) return {};
    return {ArtifactKind::kFxGraphEntry, parse_hash(file, '\0')};
  }
  if (top == "aotautograd") {
    if (rest.size() != 2 || !parse_hash(rest[0], 'a')) return {};
    return {ArtifactKind::kAotAutogradEntry, parse_hash(file, '\0')};
  }
  if (is_shard_name(top)) return classify_shard(rest);
  if (top == "locks")
    return {file.ends_with(".lock") ? ArtifactKind::kLock : ArtifactKind::kUnknown, std::nullopt};
  if (top == "triton")
    return classify_triton(rest.size() > 1 && all_of(rest[0], is_digit) ? rest.subspan(1) : rest);
  if (top == "dynamo") return {classify_dynamo(rest), std::nullopt};
  if (top == "precompiled_headers") return {classify_precompiled_header(file), std::nullopt};
  for (const NamedDirectory& named : kNamedDirectories) {
    if (top == named.name) return {file.ends_with(".lock") ? ArtifactKind::kLock : named.kind, std::nullopt};
  }
  if (top.starts_with("halide-runtime-")) {
    return {file == "lock" ? ArtifactKind::kLock : ArtifactKind::kHalide, std::nullopt};
  }
  if (parse_hash(top, 'c')) return {ArtifactKind::kAotiFile, std::nullopt};
  return {};
}

Classified classify_vllm(Components path) {
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    if (path[i] == "inductor_cache" || is_vllm_artifact_name(path[i]))
      return classify_inductor(path.subspan(i + 1));
    if (path[i] == "triton_cache") return classify_triton(path.subspan(i + 1));
  }
  const std::string_view file = path.back();
  if (file == "vllm_compile_cache.py") return {ArtifactKind::kVllmIndex, std::nullopt};
  if (file == "cache_key_factors.json") return {ArtifactKind::kVllmFactors, std::nullopt};
  if (file == "computation_graph.py" || file == "transformed_code.py")
    return {ArtifactKind::kVllmGraphText, std::nullopt};
  if (is_vllm_artifact_name(file)) return {ArtifactKind::kStandaloneArtifact, std::nullopt};
  const bool in_rank = path.size() > 1 && is_rank_directory_name(path[path.size() - 2]);
  if (file == "model" && (in_rank || path.size() == 1)) return {ArtifactKind::kVllmModel, std::nullopt};
  if (in_rank && is_fresh_cache_name(file)) return {ArtifactKind::kTemporary, std::nullopt};
  if (path[0] != "torch_compile_cache" && path[0] != "torch_aot_compile" && path.size() > 1 &&
      !is_rank_directory_name(path[0])) {
    return {ArtifactKind::kVllmOther, std::nullopt};
  }
  if (path.size() == 1 && file.starts_with("gpu_p2p_access_cache_for_"))
    return {ArtifactKind::kVllmOther, std::nullopt};
  return {};
}

}  // namespace

bool is_shard_name(std::string_view name) {
  return name.size() == 2 && all_of(name, is_base32_lower);
}

bool is_triton_directory_name(std::string_view name) {
  return (name.size() == 52 && all_of(name, is_base32_upper)) ||
         (name.size() == 43 && all_of(name, is_base64_url)) || is_hex(name, 64);
}

bool is_hex(std::string_view name, std::size_t digits) {
  return name.size() == digits && all_of(name, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

bool is_temporary_name(std::string_view name) {
  return name.ends_with(".tmp") || name.starts_with("tmp.");
}

bool is_fresh_cache_name(std::string_view name) {
  return name.size() == 11 && name.starts_with("tmp") && all_of(name.substr(3), is_mkdtemp);
}

bool is_rank_directory_name(std::string_view name) {
  if (!name.starts_with("rank_")) return false;
  const std::string_view numbers = name.substr(5);
  const std::size_t bar = numbers.find('_');
  return bar != std::string_view::npos && bar > 0 && bar + 1 < numbers.size() &&
         all_of(numbers.substr(0, bar), is_digit) && all_of(numbers.substr(bar + 1), is_digit);
}

bool is_vllm_artifact_name(std::string_view name) {
  return (name.starts_with("artifact_shape_") || name.starts_with("artifact_compile_range_")) &&
         name.find("_subgraph_") != std::string_view::npos;
}

Classified classify(RootRole role, std::string_view path) {
  const auto components = split_path(path);
  if (components.empty()) return {};
  if (components[0] == ".cachetool") return {ArtifactKind::kOwnState, std::nullopt};
  // Unfinished writes can have any place; Triton's are directories.
  for (const std::string_view component : components) {
    if (is_temporary_name(component)) return {ArtifactKind::kTemporary, std::nullopt};
  }
  switch (role) {
    case RootRole::kInductor:
      return classify_inductor(components);
    case RootRole::kTriton:
      return classify_triton(components);
    case RootRole::kVllm:
      return classify_vllm(components);
    case RootRole::kPrecompiledHeaders:
      return {classify_precompiled_header(components.back()), std::nullopt};
    case RootRole::kBenchmarkCache:
      return {components.back().ends_with(".lock") ? ArtifactKind::kLock : ArtifactKind::kBenchmarkCache,
              std::nullopt};
    case RootRole::kSingleFile:
      return {};
  }
  return {};
}

}  // namespace cachetool::store
