#include "verify/scan/content.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "container/elf.h"
#include "container/expand.h"
#include "container/tar.h"
#include "container/zip_directory.h"
#include "store/classify.h"

namespace cachetool::verify {
namespace {

using store::ArtifactKind;

constexpr std::size_t kHead = 4096;
constexpr std::string_view kTorchMagic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e", 15);
constexpr std::uint16_t kMachineAmdGpu = 224;
constexpr std::uint16_t kMachineIntelGpu = 205;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_other_compressed(std::string_view bytes) {
  return bytes.starts_with(std::string_view("\xfd\x37zXZ\0", 6)) || bytes.starts_with("BZh") ||
         bytes.starts_with("\x04\x22\x4d\x18") || bytes.starts_with("LZIP");
}

/// Text: no control characters but white space, and nothing but UTF-8 (a character may be cut at the end).
bool is_text(std::string_view head) {
  for (const char c : head) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v') return false;
  }
  const std::size_t bad = find_invalid_utf8(head, Surrogates::kAllowed);
  return bad == std::string_view::npos || head.size() - bad < 4;
}

bool line_starts_with(std::string_view text, std::string_view word) {
  return text.starts_with(word) || contains(text, std::string("\n").append(word));
}

Content text_content(std::string_view head) {
  if (head.starts_with("#!")) return Content::kScript;
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return Content::kText;
  const std::string_view text = head.substr(begin);
  if (text.starts_with('{') || text.starts_with('[')) return Content::kJson;
  if (line_starts_with(text, ".version") && line_starts_with(text, ".target")) return Content::kPtx;
  constexpr std::string_view kCpp[] = {"#include", "extern \"C\"", "#pragma once", "#ifdef", "#ifndef"};
  if (std::any_of(std::begin(kCpp), std::end(kCpp), [&](auto word) { return line_starts_with(text, word); }))
    return Content::kCpp;
  constexpr std::string_view kPython[] = {"import ", "from ", "def ", "class ", "# AOT ID", "@triton"};
  if (std::any_of(std::begin(kPython), std::end(kPython),
                  [&](auto word) { return line_starts_with(text, word); }))
    return Content::kPython;
  return Content::kText;
}

Content frame_content(std::string_view bytes) {
  switch (store::classify_content(bytes.substr(0, kHead), bytes.size())) {
    case ArtifactKind::kMegaCache:
      return Content::kMegaCache;
    case ArtifactKind::kStandaloneArtifact:
      return Content::kStandalone;
    default:
      return Content::kUnknown;
  }
}

std::string_view elf_code(std::string_view bytes) {
  const auto header = container::read_elf_header(bytes);
  if (!header) return "executable";
  if (header->machine == container::kMachineCuda) return "cubin";
  if (header->machine == kMachineAmdGpu) return "hsaco";
  if (header->machine == kMachineIntelGpu) return "zebin";
  constexpr std::uint16_t kRelocatable = 1;
  constexpr std::uint16_t kShared = 3;
  if (header->type == kRelocatable) return "object";
  return header->type == kShared ? "shared-object" : "executable";
}

}  // namespace

std::string_view content_name(Content content) {
  constexpr std::array<std::string_view, 21> kNames = {"empty",
                                                       "pickle",
                                                       "torch.save stream",
                                                       "zip",
                                                       "tar",
                                                       "compressed",
                                                       "compressed",
                                                       "mega-cache",
                                                       "standalone",
                                                       "npy",
                                                       "elf",
                                                       "ptx",
                                                       "spirv",
                                                       "precompiled-header",
                                                       "python-bytecode",
                                                       "python",
                                                       "c++",
                                                       "script",
                                                       "json",
                                                       "text",
                                                       "unknown"};
  return kNames[static_cast<std::size_t>(content)];
}

Content detect_content(std::string_view bytes) {
  if (bytes.empty()) return Content::kEmpty;
  if (container::looks_like_elf(bytes)) return Content::kElf;
  if (container::starts_as_zip(bytes)) return Content::kZip;
  if (bytes.starts_with(kTorchMagic)) return Content::kTorchStream;
  if (starts_as_pickle(bytes)) return Content::kPickle;
  if (bytes.starts_with("\x93NUMPY")) return Content::kNpy;
  if (is_other_compressed(bytes)) return Content::kOtherCompressed;
  if (const auto compression = container::starts_compressed(bytes);
      compression && (*compression != container::Compression::kZlib || !is_text(bytes.substr(0, 64))))
    return Content::kCompressed;
  if (bytes.starts_with("gpch") || bytes.starts_with("CPCH")) return Content::kPrecompiledHeader;
  if (bytes.starts_with("\x03\x02\x23\x07")) return Content::kSpirv;
  if (bytes.size() > 16 && bytes.substr(2).starts_with("\r\n") &&
      static_cast<unsigned char>(bytes[1]) == 0x0d)
    return Content::kPythonBytecode;
  const bool text = is_text(bytes.substr(0, kHead));
  if (container::looks_like_tar(bytes)) return Content::kTar;
  if (text) return text_content(bytes.substr(0, kHead));
  if (const Content frame = frame_content(bytes); frame != Content::kUnknown) return frame;
  return container::ends_as_zip(bytes) ? Content::kZip : Content::kUnknown;
}

bool starts_as_text_pickle(std::string_view bytes) {
  // Every opcode that needs nothing on the stack (INST looks up before it misses its mark, in pickle.py).
  // PROTO starts what isn't taken for text.
  constexpr std::string_view kFirst =
      "(])}cCBGFiIJKLMNPSTUVX\x82\x83\x84\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f\x95\x96";
  return !bytes.empty() && kFirst.find(bytes[0]) != std::string_view::npos;
}

bool told_by_head(Content content, std::string_view head) {
  const bool known = content == Content::kElf || content == Content::kPrecompiledHeader ||
                     content == Content::kOtherCompressed;
  return known && !starts_as_text_pickle(head);  // "CPCH" and "BZh" are also the start of a pickle of bytes
}

std::string_view code_of(Content content, std::string_view bytes) {
  switch (content) {
    case Content::kElf:
      return elf_code(bytes);
    case Content::kPtx:
      return "ptx";
    case Content::kSpirv:
      return "spirv";
    case Content::kPrecompiledHeader:
      return "precompiled-header";
    case Content::kPythonBytecode:
      return "python-bytecode";
    case Content::kPython:
      return "python";
    case Content::kCpp:
      return "c++";
    case Content::kScript:
      return "script";
    default:
      return {};
  }
}

std::string_view code_of_name(std::string_view name) {
  using Rule = std::pair<std::string_view, std::string_view>;
  constexpr std::array kRules{Rule{".py", "python"},
                              Rule{".pyc", "python-bytecode"},
                              Rule{".cpp", "c++"},
                              Rule{".cc", "c++"},
                              Rule{".cxx", "c++"},
                              Rule{".c", "c++"},
                              Rule{".cu", "c++"},
                              Rule{".h", "c++"},
                              Rule{".hpp", "c++"},
                              Rule{".so", "shared-object"},
                              Rule{".o", "object"},
                              Rule{".cubin", "cubin"},
                              Rule{".hsaco", "hsaco"},
                              Rule{".fatbin", "cubin"},
                              Rule{".ptx", "ptx"},
                              Rule{".gch", "precompiled-header"},
                              Rule{".pch", "precompiled-header"},
                              Rule{".sh", "script"}};
  for (const auto& [suffix, what] : kRules) {
    if (name.ends_with(suffix)) return what;
  }
  return {};
}

bool starts_as_pickle(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x80' && static_cast<unsigned char>(bytes[1]) <= 5;
}

bool may_be_text_pickle(std::string_view bytes) {
  // A look-up needs two lines, or a STACK_GLOBAL after two texts. They may come late: what stands first may
  // be a text of any length that is dropped again.
  return bytes.size() >= 4 && starts_as_text_pickle(bytes) &&
         (contains(bytes, "\n") || contains(bytes, "\x93") || contains(bytes, "\x82") ||
          contains(bytes, "\x83") || contains(bytes, "\x84"));
}

}  // namespace cachetool::verify
