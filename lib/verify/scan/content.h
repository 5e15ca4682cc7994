#pragma once

#include <cstdint>
#include <string_view>

namespace cachetool::verify {

/// What bytes are, by themselves.
enum class Content : std::uint8_t {
  kEmpty,
  kPickle,       ///< protocol 2 and later; older ones have no magic number
  kTorchStream,  ///< torch.save's legacy form: five pickles, then storages
  kZip,          ///< .pt, .pth, .pt2, .npz, …
  kTar,
  kCompressed,       ///< gzip, zlib, zstd
  kOtherCompressed,  ///< xz, bzip2, lz4: not unpacked
  kMegaCache,
  kStandalone,
  kNpy,
  kElf,
  kPtx,
  kSpirv,
  kPrecompiledHeader,
  kPythonBytecode,
  kPython,  ///< text
  kCpp,     ///< text
  kScript,  ///< text that starts with #!
  kJson,    ///< text
  kText,
  kUnknown,
};

/// "empty", "pickle", "torch.save stream", "zip", …
std::string_view content_name(Content content);

/// The content of `bytes` by its first bytes (and, for archives, its last). Never looks at names. A text
/// pickle (protocols 0 and 1) is kText or kUnknown here: only running it tells.
Content detect_content(std::string_view bytes);

/// True where nothing that follows the first bytes could change what is said of a file: it needn't be read.
bool told_by_head(Content content, std::string_view head);

/// The word for the code that such content is by itself ("cubin", "shared-object", "python", …); empty for
/// the rest. `bytes` may be a file's first kilobyte.
std::string_view code_of(Content content, std::string_view bytes);

/// The word for code that a file of this name is taken for by those who load it; empty for other names. Only
/// adds to what the content says.
std::string_view code_of_name(std::string_view name);

/// True when `bytes` start as a pickle of protocol 2 or later does.
bool starts_as_pickle(std::string_view bytes);

/// True when the first byte could start a pickle without PROTO: protocol 0 or 1, or one made by hand. Magic
/// numbers of other formats may do so too.
bool starts_as_text_pickle(std::string_view bytes);

/// True when it does, and something may be looked up further on.
bool may_be_text_pickle(std::string_view bytes);

}  // namespace cachetool::verify
