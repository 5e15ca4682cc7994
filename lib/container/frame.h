#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace cachetool::container {

/// CRC-32 as zlib computes it.
std::uint32_t crc32(std::string_view bytes);

/// Base64 (RFC 4648, padded, nothing but the alphabet) back to bytes; kMalformed with the offset otherwise.
Expected<std::string> from_base64(std::string_view text);

/// Reads parts from what torch's BytesWriter wrote (torch/utils/_appending_byte_serializer.py:
/// BytesReader, 2.9.1): 8-byte big-endian numbers, byte strings behind their length, text as base64 inside a
/// byte string. Offsets in errors count from the start of the frame.
class FrameReader {
 public:
  /// Checks the CRC-32 in the first four bytes over everything behind it. Errors: kTruncated, kMalformed.
  static Expected<FrameReader> open(std::string_view frame);

  Expected<std::uint64_t> number();
  Expected<std::string_view> bytes();
  Expected<std::string> text();

  bool at_end() const { return position_ == frame_.size(); }
  std::uint64_t offset() const { return position_; }
  std::uint64_t left() const { return frame_.size() - position_; }

 private:
  explicit FrameReader(std::string_view frame) : frame_(frame), position_(4) {}
  std::string_view frame_;
  std::uint64_t position_;
};

struct MegaCacheItem {
  std::string key;
  std::string_view content;  ///< into the blob
  std::uint64_t offset = 0;  ///< of `content` in the blob
};

/// Items of one kind. A second save in one process appends groups of a kind that is there already; on load
/// the later one wins, for torch makes a dict of the groups.
struct MegaCacheGroup {
  std::string type;  ///< "inductor", "aot_autograd", "autotune", "pgo", …; not checked against a list
  std::vector<MegaCacheItem> items;
};

/// What torch.compiler.save_cache_artifacts returns (torch/compiler/_cache.py: CacheArtifactManager, 2.9.1
/// and 2.15.0).
struct MegaCache {
  std::uint64_t version = 0;
  std::vector<MegaCacheGroup> groups;
};

/// Reads a mega-cache blob. Errors: kTruncated and kMalformed with the offset in the blob, kUnsupported for a
/// version other than 1.
Expected<MegaCache> read_mega_cache(std::string_view blob);

/// One file of torch._inductor.standalone_compile's format "binary".
struct StandaloneArtifact {
  enum class Form : std::uint8_t {
    kUnmarked,  ///< torch 2.8 and 2.9: no class name in front
    kCache,     ///< "CacheCompiledArtifact": a mega-cache blob
    kAot,       ///< "AOTCompiledArtifact": one pickled bundle
  };
  Form form = Form::kUnmarked;
  std::string_view torch_key;   ///< 32 raw bytes that name the torch build
  std::string aot_key;          ///< of the only AOTAutograd entry; empty in the AOT form
  std::string_view mega_cache;  ///< empty in the AOT form
  std::string_view bundle;      ///< pickle; empty in the other forms
};

/// True when `bytes` (the first 40 are enough) starts as such a file does. The CRC isn't looked at.
bool looks_like_standalone(std::string_view bytes);

/// True when `bytes` (the first 20 are enough) starts as a mega-cache blob does. The CRC isn't looked at.
bool looks_like_mega_cache(std::string_view bytes);

/// Reads a standalone artifact (torch/_inductor/standalone_compile.py, 2.9.1 and 2.15.0), the CRC checked,
/// the nested blob not yet parsed. Errors: kTruncated, kMalformed with the offset.
Expected<StandaloneArtifact> read_standalone(std::string_view bytes);

}  // namespace cachetool::container
