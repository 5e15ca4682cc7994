#include <array>
#include <cstdint>
#include <utility>

#include "store/classify.h"

namespace cachetool::store {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::uint64_t big_endian_64(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes.substr(0, 8)) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

unsigned little_endian_16(std::string_view bytes, std::size_t offset) {
  return static_cast<unsigned char>(bytes[offset]) |
         static_cast<unsigned>(static_cast<unsigned char>(bytes[offset + 1])) << 8;
}

ArtifactKind elf_kind(std::string_view head) {
  constexpr unsigned kRelocatable = 1;
  constexpr unsigned kMachineCuda = 190;
  constexpr unsigned kMachineAmdGpu = 224;
  if (head.size() < 20) return ArtifactKind::kUnknown;
  const unsigned machine = little_endian_16(head, 18);
  if (machine == kMachineCuda || machine == kMachineAmdGpu) return ArtifactKind::kGpuBinary;
  return little_endian_16(head, 16) == kRelocatable ? ArtifactKind::kObjectFile : ArtifactKind::kSharedObject;
}

// torch/utils/_appending_byte_serializer.py: CRC-32, then 8-byte lengths. A mega-cache has the version 1 and
// a type's base64 name there; standalone artifacts the 32 bytes of torch_key or the name of their class.
ArtifactKind frame_kind(std::string_view head, std::uint64_t size) {
  if (head.size() < 12) return ArtifactKind::kUnknown;
  const std::uint64_t first = big_endian_64(head.substr(4));
  const std::string_view rest = head.substr(12);
  if (first == 21 && rest.starts_with("CacheCompiledArtifact")) return ArtifactKind::kStandaloneArtifact;
  if (first == 19 && rest.starts_with("AOTCompiledArtifact")) return ArtifactKind::kStandaloneArtifact;
  if (first == 1) {
    if (size == 12) return ArtifactKind::kMegaCache;
    const std::uint64_t type_length = rest.size() < 8 ? 0 : big_endian_64(rest);
    const bool plausible = type_length > 0 && type_length <= 64 && type_length % 4 == 0;
    return plausible ? ArtifactKind::kMegaCache : ArtifactKind::kUnknown;
  }
  // After the key comes an AOTAutograd key in base64: 52 characters become 72.
  if (first == 32 && rest.size() >= 40 && big_endian_64(rest.substr(32)) == 72)
    return ArtifactKind::kStandaloneArtifact;
  return ArtifactKind::kUnknown;
}

ArtifactKind pickle_kind(std::string_view head) {
  const std::string_view start = head.substr(0, 256);
  using Rule = std::pair<std::string_view, ArtifactKind>;
  constexpr std::array kRules{
      Rule{"AOTAutogradCacheEntry", ArtifactKind::kAotAutogradEntry},
      Rule{"AOTAutogradResult", ArtifactKind::kAotAutogradEntry},
      Rule{"CompiledFxGraph", ArtifactKind::kFxGraphEntry},
      Rule{"torch._inductor.output_code", ArtifactKind::kFxGraphEntry},
      Rule{"torch._dynamo.pgo", ArtifactKind::kPgoState},
      Rule{"PrecompileCacheEntry", ArtifactKind::kPrecompile},
      Rule{"torch._dynamo.package", ArtifactKind::kPrecompile},
  };
  for (const auto& [text, kind] : kRules) {
    if (contains(start, text)) return kind;
  }
  if (contains(start, "signature") && contains(start, "inspect")) return ArtifactKind::kVllmModel;
  return ArtifactKind::kUnknown;
}

ArtifactKind json_kind(std::string_view head) {
  if (contains(head, "\"child_paths\"")) return ArtifactKind::kTritonGroup;
  if (contains(head, "\"configs_timings\"")) return ArtifactKind::kTritonAutotune;
  if (contains(head, "\"configs_hash\"")) return ArtifactKind::kBestConfig;
  if (contains(head, "\"code_hash\"") && contains(head, "\"compiler_hash\""))
    return ArtifactKind::kVllmFactors;
  if (contains(head, "\"hash\"") && contains(head, "\"target\"")) return ArtifactKind::kTritonMetadata;
  if (contains(head, "\"AOTI_DEVICE_KEY\"")) return ArtifactKind::kAotiFile;
  if (contains(head, "\"system\"") && contains(head, "\"hash\"")) return ArtifactKind::kBenchmarkCache;
  return ArtifactKind::kUnknown;
}

ArtifactKind text_kind(std::string_view head) {
  using Rule = std::pair<std::string_view, ArtifactKind>;
  constexpr std::array kRules{
      Rule{"# AOT ID", ArtifactKind::kPythonModule},
      Rule{"torch._inductor.async_compile", ArtifactKind::kPythonModule},
      Rule{"from torch._inductor.runtime import triton_heuristics", ArtifactKind::kPythonModule},
      Rule{"@triton.jit", ArtifactKind::kPythonModule},
      Rule{"torch/csrc/inductor", ArtifactKind::kCppSource},
      Rule{"extern \"C\"", ArtifactKind::kCppSource},
      Rule{".target sm_", ArtifactKind::kTritonIr},
      Rule{"tt.func", ArtifactKind::kTritonIr},
  };
  for (const auto& [text, kind] : kRules) {
    if (contains(head, text)) return kind;
  }
  return ArtifactKind::kUnknown;
}

}  // namespace

ArtifactKind classify_content(std::string_view head, std::uint64_t size) {
  if (head.starts_with("\x7f"
                       "ELF")) {
    return elf_kind(head);
  }
  if (head.starts_with("PK\x03\x04")) {
    const bool packaged = contains(head, "archive_format") || contains(head, "aotinductor");
    return packaged ? ArtifactKind::kAotiPackage : ArtifactKind::kUnknown;
  }
  if (const ArtifactKind kind = frame_kind(head, size); kind != ArtifactKind::kUnknown) return kind;
  if (head.starts_with('\x80')) return pickle_kind(head);
  if (head.starts_with('{')) return json_kind(head);
  return text_kind(head);
}

}  // namespace cachetool::store
