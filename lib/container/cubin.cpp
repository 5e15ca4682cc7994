#include "container/cubin.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "container/elf_layout.h"

namespace cachetool::container {
namespace {

constexpr std::uint64_t kSymbolSize = 24;
constexpr std::string_view kInfoPrefix = ".nv.info.";
constexpr std::string_view kSharedPrefix = ".nv.shared.";

/// The text behind "-arch " in the note that ptxas 13 leaves about itself and its options.
std::optional<CudaTarget> target_of_note(std::string_view note) {
  constexpr std::string_view kOption = "-arch ";
  const std::size_t at = note.rfind(kOption);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = note.substr(at + kOption.size());
  return parse_cuda_target(rest.substr(0, rest.find_first_of(std::string_view(" \0", 2))));
}

CudaTarget target_of(const ElfHeader& header, std::string_view note) {
  constexpr std::uint32_t kArchitectureBit7 = 0x800;
  constexpr std::uint32_t kArchitectureBit8 = 0x8;
  CudaTarget target{header.cuda_architecture().value_or(0), CudaVariant::kUnknown};
  if (header.abi_version < 8) {
    target.variant =
        (header.flags & kArchitectureBit7) != 0 ? CudaVariant::kArchitecture : CudaVariant::kPlain;
  } else if (const auto told = target_of_note(note); told && told->number == target.number) {
    target.variant = told->variant;
  } else if ((header.flags & kArchitectureBit8) != 0) {
    target.variant = CudaVariant::kArchitecture;
  }
  return target;
}

/// Threads per block from a kernel's attributes: a format byte, an attribute byte, then a value of two bytes
/// or, in format 4, that many bytes.
std::optional<std::uint32_t> threads_of(std::string_view info) {
  constexpr std::uint8_t kSized = 4, kMaxThreads = 0x05, kRequiredThreads = 0x10;
  std::optional<std::uint32_t> threads;
  for (std::uint64_t at = 0; lies_inside(info, at, 4);) {
    const auto format = load_little<std::uint8_t>(info, at);
    const auto attribute = load_little<std::uint8_t>(info, at + 1);
    const std::uint64_t size = format == kSized ? load_little<std::uint16_t>(info, at + 2) : 0;
    at += 4;
    if ((attribute == kMaxThreads || attribute == kRequiredThreads) && size == 12 &&
        lies_inside(info, at, size)) {
      std::uint64_t product = 1;
      for (std::uint64_t i = 0; i < 3; ++i)
        product = std::min<std::uint64_t>(product * load_little<std::uint32_t>(info, at + 4 * i), 1U << 30);
      threads = static_cast<std::uint32_t>(product);
    }
    at += size;
  }
  return threads;
}

struct Details {
  std::optional<std::uint32_t> threads;
  std::uint64_t shared_bytes = 0;
};

}  // namespace

std::string CudaTarget::text() const {
  const std::string_view suffix =
      variant == CudaVariant::kArchitecture ? "a" : (variant == CudaVariant::kFamily ? "f" : "");
  return fmt::format("sm_{}{}", number, suffix);
}

std::optional<CudaTarget> parse_cuda_target(std::string_view text) {
  if (text.starts_with("sm_")) text.remove_prefix(3);
  CudaTarget target{0, CudaVariant::kPlain};
  if (text.ends_with('a')) target.variant = CudaVariant::kArchitecture;
  if (text.ends_with('f')) target.variant = CudaVariant::kFamily;
  if (target.variant != CudaVariant::kPlain) text.remove_suffix(1);
  if (text.size() < 2 || text.size() > 3 || text.front() == '0') return std::nullopt;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    target.number = target.number * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return target;
}

bool runs_on(const CudaTarget& code, const CudaTarget& device) {
  if (code.variant == CudaVariant::kArchitecture) return code.number == device.number;
  return code.major() == device.major() && code.minor() <= device.minor();
}

const CubinKernel* Cubin::find(std::string_view name) const {
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const CubinKernel& kernel) { return kernel.name == name; });
  return found == kernels.end() ? nullptr : &*found;
}

Expected<Cubin> read_cubin(std::string_view bytes) {
  constexpr std::uint8_t kFunction = 2, kEntry = 0x10;
  const auto header = read_elf_header(bytes);
  if (!header) return tl::unexpected(header.error());
  if (header->machine != kMachineCuda)
    return fail(ErrorCode::kUnsupported, "an ELF file of another machine than a CUDA device", {}, 18);
  const std::vector<ElfSection> sections = read_elf_sections_of(*header, bytes);
  ElfStrings section_names(header->section_names < sections.size()
                               ? section_bytes(bytes, sections[header->section_names])
                               : std::string_view{});
  std::unordered_map<std::string_view, Details> details;
  std::string_view note;
  const ElfSection* symbols = nullptr;
  std::uint64_t info_left = bytes.size();  // sections of a real file do not overlap
  for (const ElfSection& section : sections) {
    if (section.type == kSymbolsSection && symbols == nullptr) symbols = &section;
    if (section.type == 0) continue;
    const auto name = section_names.at(section.name);
    if (!name) return tl::unexpected(name.error());
    if (*name == ".note.nv.tkinfo") note = section_bytes(bytes, section);
    if (name->starts_with(kSharedPrefix))
      details[name->substr(kSharedPrefix.size())].shared_bytes = section.size;
    if (!name->starts_with(kInfoPrefix)) continue;
    const std::string_view info = section_bytes(bytes, section);
    if (info.size() > info_left) return fail(ErrorCode::kMalformed, "sections of the cubin overlap");
    info_left -= info.size();
    details[name->substr(kInfoPrefix.size())].threads = threads_of(info);
  }
  Cubin cubin;
  cubin.target = target_of(*header, note);
  if (symbols == nullptr || symbols->link >= sections.size()) return cubin;
  const std::string_view table = section_bytes(bytes, *symbols);
  ElfStrings names(section_bytes(bytes, sections[symbols->link]));
  for (std::uint64_t at = kSymbolSize; lies_inside(table, at, kSymbolSize); at += kSymbolSize) {
    const auto type = load_little<std::uint8_t>(table, at + 4) & 0xfU;
    const bool entry = (load_little<std::uint8_t>(table, at + 5) & kEntry) != 0;
    if (type != kFunction || !entry || load_little<std::uint16_t>(table, at + 6) == 0) continue;
    const auto name = names.at(load_little<std::uint32_t>(table, at));
    if (!name) return tl::unexpected(name.error());
    const auto found = details.find(*name);
    const Details known = found == details.end() ? Details{} : found->second;
    cubin.kernels.push_back({*name, known.threads, known.shared_bytes});
  }
  return cubin;
}

}  // namespace cachetool::container
