#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "torch/key.h"

namespace cachetool::store {

/// What a file of a cache is for. Each kind has a stable name (`kind_name`) that JSON output and `--kind`
/// use.
enum class ArtifactKind : std::uint8_t {
  kFxGraphEntry,        ///< "fxgraph": pickled CompiledFxGraph, fxgraph/<k[1:3]>/<key>/<leaf>
  kAotAutogradEntry,    ///< "aotautograd": pickled AOTAutograd entry, aotautograd/<key>/<leaf or "entry">
  kPythonModule,        ///< "module": generated `c….py`, wrapper or kernel (told apart by who refers to it)
  kCppSource,           ///< "cpp-source": `c….cpp`, `c….main.cpp`
  kOptimizedSource,     ///< "optimized-source": `c….optimized.cpp`, the kernel part of a C++ wrapper
  kHeader,              ///< "header": `c….h`
  kPrecompiledHeader,   ///< "precompiled-header": `….h.gch`, `….pch`
  kSharedObject,        ///< "shared-object": `c….so`, `c….main.so`
  kObjectFile,          ///< "object": `c….o`
  kLoadMarker,          ///< "load-marker": `c….so.load_ok`
  kBuildError,          ///< "build-error": `c….so.error`
  kBuildScratch,        ///< "build-scratch": below `<stem>_CxxBuild/`
  kGpuBinary,           ///< "gpu-binary": `c….cubin`, `.hsaco`, `.fatbin`, `.ptx`, `.spv` in a shard
  kBestConfig,          ///< "best-config": autotune winner beside a kernel module
  kKernelPerf,          ///< "kernel-perf": measured time of a kernel module, `c….kernel_perf`
  kBenchmarkCache,      ///< "benchmark-cache": `cache/<hex>`, local results of choosing algorithms
  kTritonMetadata,      ///< "triton-metadata": `<kernel>.json`
  kTritonGroup,         ///< "triton-group": `__grp__<kernel>.json`
  kTritonIr,            ///< "triton-ir": `.ttir`, `.ttgir`, `.llir`, `.ptx`, `.amdgcn`, …
  kTritonSource,        ///< "triton-source": `.source`
  kTritonBinary,        ///< "triton-binary": `.cubin`, `.hsaco`, … of a kernel
  kTritonLauncher,      ///< "triton-launcher": `__triton_launcher….so`
  kTritonDriver,        ///< "triton-driver": `cuda_utils….so`, `hip_utils….so`
  kTritonAutotune,      ///< "triton-autotune": `<kernel>.autotune.json`
  kTritonOther,         ///< "triton-other": another file that a Triton backend put into a kernel directory
  kMegaCache,           ///< "mega-cache": torch.compiler.save_cache_artifacts()
  kStandaloneArtifact,  ///< "standalone": standalone_compile's binary form; also vLLM's artifact files
  kAotiPackage,         ///< "aoti-package": AOTInductor `.pt2`
  kAotiFile,            ///< "aoti-file": below an AOTInductor directory of the cache
  kVllmIndex,           ///< "vllm-index": vllm_compile_cache.py
  kVllmFactors,         ///< "vllm-factors": cache_key_factors.json
  kVllmGraphText,       ///< "vllm-graph-text": computation_graph.py, transformed_code.py
  kVllmModel,           ///< "vllm-model": torch_aot_compile/…/model
  kVllmOther,           ///< "vllm-other": beside the compile caches in vLLM's root (model infos, assets, …)
  kPgoState,            ///< "pgo": dynamo/code_state_*.pkl
  kPrecompile,          ///< "precompile": dynamo/<id>/entry
  kEagerAoti,           ///< "eager-aoti": aoti_eager/…
  kCutlass,             ///< "cutlass": CUTLASS sources and what belongs to them
  kCuteDsl,             ///< "cutedsl": cutedsl_compile_cache/…, flydsl_compile_cache/…, quack/…
  kHalide,              ///< "halide": Halide's directories
  kDebugDump,           ///< "debug": `<stem>.debug/`, graph dumps, `bisect/`, `unhashed_kernel_inputs/`
  kAutoHeuristic,       ///< "autoheuristic"
  kMemoizer,            ///< "memoizer": memoizer_cache.json
  kInductorOther,  ///< "inductor-other": other known side files (`configs_*.json`, constant spills, gcc/)
  kLock,           ///< "lock"
  kTemporary,      ///< "temporary": an unfinished write, or what a killed one left
  kOwnState,       ///< "own-state": below `.cachetool/`
  kUnknown,        ///< "unknown"
};

inline constexpr std::size_t kArtifactKindCount = static_cast<std::size_t>(ArtifactKind::kUnknown) + 1;

/// The stable name, e.g. "fxgraph".
std::string_view kind_name(ArtifactKind kind);
/// The kind of that name; empty when there is none.
std::optional<ArtifactKind> parse_kind(std::string_view name);
/// A few words for a person, e.g. "FX graph entries".
std::string_view kind_title(ArtifactKind kind);

constexpr bool is_entry(ArtifactKind kind) {
  return kind == ArtifactKind::kFxGraphEntry || kind == ArtifactKind::kAotAutogradEntry;
}

/// One file of a cache, as the walk hands it out. Valid during the sink's call; copy what should stay.
struct Artifact {
  ArtifactKind kind = ArtifactKind::kUnknown;
  std::uint32_t root = 0;  ///< index into CacheSet::roots
  std::string_view path;   ///< below the root, '/' between components, raw bytes (need not be UTF-8)
  const DirHandle* directory = nullptr;  ///< open handle of the directory that holds it
  const Name* name = nullptr;            ///< in that directory
  std::optional<torch::HashName> hash;   ///< the file's stem or leaf, where it is a name made from a hash
  std::optional<FileStat> stat;          ///< only when the walk was asked for it
};

/// Something that the walk left out, and why.
struct Skipped {
  std::uint32_t root = 0;
  std::string path;
  FileType type = FileType::kUnknown;
  Error error;  ///< kVanished, kPermission, kNotRegular (links, FIFOs, sockets, devices), kMountPoint,
                ///< kLimitDepth, kIo
};

}  // namespace cachetool::store
