#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/hash.h"
#include "store/entry_links.h"
#include "torch/entry_summary.h"
#include "torch/key.h"
#include "verify/source_text.h"

namespace cachetool::verify {

// What is kept of a file once it was read, for the checks that compare files with each other. Owns
// everything; texts are kept as hashes. Each file has at most one of these.

/// One kernel directory that an entry carries along. torch/_inductor/triton_bundler.py:
/// TritonKernelArtifacts.
struct BundledKernelFacts {
  std::string directory;                ///< kernel_hash
  std::vector<std::string> files;       ///< names, sorted
  std::vector<std::uint64_t> contents;  ///< of each file, see content_mark
};

/// One statically launched kernel of a bundle. torch/_inductor/triton_bundler.py:
/// StaticallyLaunchedAutotuner.
struct StaticKernelFacts {
  std::string autotuner;    ///< kernel_name of the autotuner that holds it
  std::string kernel;       ///< name of the kernel: `<name>.cubin` is what it loads
  std::string hash;         ///< of the compiled kernel, hexadecimal: stands for a directory's name
  bool has_binary = false;  ///< carries the binary itself (cubin_raw)
};

/// One compiled graph.
struct GraphFacts {
  store::GraphLinks links;
  std::optional<SourceText> source;  ///< source_code: what the wrapper file must hold
  bool has_bundle = false;           ///< a bundle was stored, even an empty one
  std::vector<BundledKernelFacts> bundle;
  std::vector<StaticKernelFacts> static_kernels;
};

/// Which FX graph entry an AOTAutograd entry needs.
struct GraphReferenceFacts {
  torch::HashName key;
  /// B(fx_graph_guard_expr), which must be equal to the graph's; empty where the release stores none (2.6).
  std::optional<torch::HashName> guards;
  bool is_backward = false;
};

struct EntryFacts {
  torch::EntryKind kind = torch::EntryKind::kFxGraph;
  torch::ReleaseFamily first = torch::ReleaseFamily::kUnknown;
  torch::ReleaseFamily last = torch::ReleaseFamily::kUnknown;
  std::string torch_identity;  ///< see torch::torch_identity; empty before 2.8
  torch::HashName guards;      ///< B(guards_expr), B("") without one
  bool names_frozen_parameters = false;
  std::vector<GraphReferenceFacts> references;  ///< of an AOTAutograd entry
  std::vector<GraphFacts> graphs;               ///< itself; both graphs of a bundled AOTAutograd entry
};

/// A generated module.
struct ModuleFacts {
  SourceText content;
  bool is_triton_kernel = false;  ///< the file defines one Triton kernel
  bool is_named_right = true;     ///< false: there is a finding that its name isn't its text's
};

/// A C++ source.
struct CppSourceFacts {
  torch::HashName fingerprint;  ///< see store::file_fingerprint
  bool is_isa_probe = false;
  /// SHA-256 over what comes before a compile command in what the file is named after: its text without white
  /// space at its ends, and "||". Absent where the name can't be put to the test (`--quick`).
  std::optional<Sha256Stream> named_after;
};

/// A function of a cubin that a host can launch.
struct GpuKernelFacts {
  std::string name;
  std::optional<std::uint32_t> threads;  ///< per block, see container::CubinKernel
};

/// A cubin or another vendor's binary.
struct GpuBinaryFacts {
  std::optional<std::uint32_t> architecture = {};  ///< compute capability of a cubin, such as 90
  std::vector<GpuKernelFacts> kernels = {};        ///< of a cubin, at Depth::kDeep
  bool has_kernels = false;                        ///< `kernels` was read
};

/// `<kernel>.json` of a Triton directory.
struct TritonMetadataFacts {
  std::string kernel;                                           ///< its member "name"
  std::string hash;                                             ///< its member "hash"
  std::optional<std::int64_t> num_warps;                        ///< its member "num_warps"
  std::string backend;                                          ///< target.backend: "cuda", "hip"
  std::optional<std::uint32_t> architecture;                    ///< target.arch of a CUDA kernel, such as 90
  torch::ReleaseFamily first = torch::ReleaseFamily::kUnknown;  ///< releases that bring this Triton
  torch::ReleaseFamily last = torch::ReleaseFamily::kUnknown;
};

/// `__grp__<kernel>.json`: name of each child and the path it was written under.
struct TritonGroupFacts {
  std::vector<std::pair<std::string, std::string>> children;
};

/// `.best_config`.
struct BestConfigFacts {
  std::string triton_directory;  ///< member "triton_cache_hash"; empty where there is none (2.6)
};

/// Text of a Triton directory that names the module it was compiled from (`loc(…)`).
struct TritonTextFacts {
  std::optional<torch::HashName> module;
};

/// vLLM's index: the artifacts it names, and the path that each was written under.
struct VllmIndexFacts {
  struct Handle {
    std::string name;      ///< artifact, or FX graph key of the classic adaptor
    std::string path;      ///< absolute, on the machine that wrote it
    std::string compiler;  ///< "inductor_standalone", "inductor"
    std::int64_t piece = 0;
    std::string key;  ///< AOTAutograd key of the artifact; empty up to 0.15.1, which doesn't note it
  };
  std::vector<Handle> handles;
};

/// vLLM's cache_key_factors.json.
struct VllmFactorsFacts {
  /// Its `env` has VLLM_API_KEY, which 0.12.0 to 0.27.1 write and 0.33.0 doesn't.
  bool lists_api_key = false;
};

/// A standalone artifact, vLLM's artifact files among them.
struct StandaloneFacts {
  std::string aot_key;  ///< empty in the AOT form
};

using Facts = std::variant<std::monostate, std::unique_ptr<EntryFacts>, ModuleFacts, CppSourceFacts,
                           GpuBinaryFacts, TritonMetadataFacts, TritonGroupFacts, BestConfigFacts,
                           TritonTextFacts, VllmIndexFacts, VllmFactorsFacts, StandaloneFacts>;

}  // namespace cachetool::verify
