#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "store/artifact.h"
#include "store/cache_set.h"
#include "torch/key.h"

namespace cachetool::store {

struct Classified {
  ArtifactKind kind = ArtifactKind::kUnknown;
  std::optional<torch::HashName> hash;  ///< the stem or leaf where it is a name made from a hash
};

/// The kind of a file from its place and name alone. `path` is below a root of that role, '/' between
/// components. Nested roots (triton/<device>/, vLLM's inductor_cache/, unpacked artifacts) are followed by
/// their names.
Classified classify(RootRole role, std::string_view path);

/// The kind of a file from its first bytes (4 KiB are enough) and its size, where its place says nothing: a
/// pickled entry, a mega-cache or standalone frame, a .pt2, ELF, Triton's JSON, an autotune result, a
/// generated module.
ArtifactKind classify_content(std::string_view head, std::uint64_t size);

// Shapes of names, shared by the walk, the resolver and the references.
bool is_shard_name(std::string_view name);  ///< two characters of a-z2-7
/// 52 characters of base32 in upper case (Triton 3.3 on), 43 of URL-safe base64 (3.2), 64 hexadecimal digits
/// (up to 3.1).
bool is_triton_directory_name(std::string_view name);
bool is_hex(std::string_view name, std::size_t digits);
/// Names of unfinished writes, by torch, Triton, vLLM and cachetool (docs/formats.md, "Names of unfinished
/// writes").
bool is_temporary_name(std::string_view name);
/// `tmp` and eight characters: a fresh cache directory (Python's mkdtemp) inside a root.
bool is_fresh_cache_name(std::string_view name);
/// `rank_<rank>_<data parallel rank>` of vLLM.
bool is_rank_directory_name(std::string_view name);
/// `artifact_…_subgraph_<i>` of vLLM, a file (binary) or a directory (unpacked).
bool is_vllm_artifact_name(std::string_view name);

}  // namespace cachetool::store
