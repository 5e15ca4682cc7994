#include "store/artifact.h"

#include <array>

namespace cachetool::store {
namespace {

struct KindText {
  ArtifactKind kind;
  std::string_view name;
  std::string_view title;
};

constexpr std::array<KindText, kArtifactKindCount> kKinds{{
    {ArtifactKind::kFxGraphEntry, "fxgraph", "FX graph entries"},
    {ArtifactKind::kAotAutogradEntry, "aotautograd", "AOTAutograd entries"},
    {ArtifactKind::kPythonModule, "module", "generated Python modules"},
    {ArtifactKind::kCppSource, "cpp-source", "C++ sources"},
    {ArtifactKind::kOptimizedSource, "optimized-source", "C++ kernel sources of C++ wrappers"},
    {ArtifactKind::kHeader, "header", "C++ headers"},
    {ArtifactKind::kPrecompiledHeader, "precompiled-header", "precompiled headers"},
    {ArtifactKind::kSharedObject, "shared-object", "shared objects"},
    {ArtifactKind::kObjectFile, "object", "object files"},
    {ArtifactKind::kLoadMarker, "load-marker", "load markers"},
    {ArtifactKind::kBuildError, "build-error", "stored build errors"},
    {ArtifactKind::kBuildScratch, "build-scratch", "compiler scratch files"},
    {ArtifactKind::kGpuBinary, "gpu-binary", "GPU binaries of C++ wrappers"},
    {ArtifactKind::kBestConfig, "best-config", "autotune results"},
    {ArtifactKind::kKernelPerf, "kernel-perf", "kernel timings"},
    {ArtifactKind::kBenchmarkCache, "benchmark-cache", "benchmark caches"},
    {ArtifactKind::kTritonMetadata, "triton-metadata", "Triton kernel metadata"},
    {ArtifactKind::kTritonGroup, "triton-group", "Triton group files"},
    {ArtifactKind::kTritonIr, "triton-ir", "Triton intermediate code"},
    {ArtifactKind::kTritonSource, "triton-source", "Triton sources"},
    {ArtifactKind::kTritonBinary, "triton-binary", "Triton GPU binaries"},
    {ArtifactKind::kTritonLauncher, "triton-launcher", "Triton launchers"},
    {ArtifactKind::kTritonDriver, "triton-driver", "Triton driver libraries"},
    {ArtifactKind::kTritonAutotune, "triton-autotune", "Triton autotune results"},
    {ArtifactKind::kTritonOther, "triton-other", "other Triton files"},
    {ArtifactKind::kMegaCache, "mega-cache", "mega-cache files"},
    {ArtifactKind::kStandaloneArtifact, "standalone", "standalone artifacts"},
    {ArtifactKind::kAotiPackage, "aoti-package", "AOTInductor packages"},
    {ArtifactKind::kAotiFile, "aoti-file", "AOTInductor files"},
    {ArtifactKind::kVllmIndex, "vllm-index", "vLLM indexes"},
    {ArtifactKind::kVllmFactors, "vllm-factors", "vLLM key factors"},
    {ArtifactKind::kVllmGraphText, "vllm-graph-text", "vLLM graph texts"},
    {ArtifactKind::kVllmModel, "vllm-model", "vLLM ahead-of-time models"},
    {ArtifactKind::kVllmOther, "vllm-other", "other vLLM files"},
    {ArtifactKind::kPgoState, "pgo", "profile states"},
    {ArtifactKind::kPrecompile, "precompile", "precompile packages"},
    {ArtifactKind::kEagerAoti, "eager-aoti", "eager AOTInductor indexes"},
    {ArtifactKind::kCutlass, "cutlass", "CUTLASS files"},
    {ArtifactKind::kCuteDsl, "cutedsl", "CuTe DSL objects"},
    {ArtifactKind::kHalide, "halide", "Halide files"},
    {ArtifactKind::kDebugDump, "debug", "debug dumps"},
    {ArtifactKind::kAutoHeuristic, "autoheuristic", "autoheuristic data"},
    {ArtifactKind::kMemoizer, "memoizer", "memoizer dumps"},
    {ArtifactKind::kInductorOther, "inductor-other", "other Inductor files"},
    {ArtifactKind::kLock, "lock", "lock files"},
    {ArtifactKind::kTemporary, "temporary", "unfinished writes"},
    {ArtifactKind::kOwnState, "own-state", "cachetool's own state"},
    {ArtifactKind::kUnknown, "unknown", "unknown files"},
}};

constexpr bool in_enum_order() {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (static_cast<std::size_t>(kKinds[i].kind) != i) return false;
  }
  return true;
}
static_assert(in_enum_order());

}  // namespace

std::string_view kind_name(ArtifactKind kind) {
  return kKinds[static_cast<std::size_t>(kind)].name;
}

std::string_view kind_title(ArtifactKind kind) {
  return kKinds[static_cast<std::size_t>(kind)].title;
}

std::optional<ArtifactKind> parse_kind(std::string_view name) {
  for (const KindText& text : kKinds) {
    if (text.name == name) return text.kind;
  }
  return std::nullopt;
}

}  // namespace cachetool::store
