#include "container/elf.h"

#include "container/elf_layout.h"

#include <fmt/format.h>
#include <algorithm>

namespace cachetool::container {
namespace {

constexpr std::uint64_t kProgramSize = 56;
constexpr std::uint64_t kSymbolSize = 24;
constexpr std::uint64_t kDynamicSize = 16;

std::uint64_t end_of(std::uint64_t offset, std::uint64_t size) {
  return size > UINT64_MAX - offset ? UINT64_MAX : offset + size;
}

/// A string table that lies inside the file, or an empty one.
std::string_view table_of(std::string_view bytes, const std::vector<ElfSection>& sections,
                          std::uint32_t index) {
  return index < sections.size() ? section_bytes(bytes, sections[index]) : std::string_view{};
}

std::optional<std::string_view> name_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::size_t end = table.find('\0', offset);
  if (end == std::string_view::npos) return {};
  return table.substr(offset, end - offset);
}

class Reader {
 public:
  Reader(std::string_view bytes, const ElfLimits& limits) : bytes_(bytes), limits_(limits) {}

  Expected<ElfFile> read() {
    auto header = read_elf_header(bytes_);
    if (!header) return tl::unexpected<Error>(header.error());
    file_.header = *header;
    file_.expected_size = header->tables_end();
    read_segments();
    if (auto done = read_sections(); !done) return tl::unexpected<Error>(done.error());
    file_.whole = file_.header.section_count > 0 && file_.expected_size <= bytes_.size();
    return std::move(file_);
  }

 private:
  void need(std::uint64_t offset, std::uint64_t size) {
    file_.expected_size = std::max(file_.expected_size, end_of(offset, size));
  }

  void read_segments() {
    const ElfHeader& header = file_.header;
    for (std::uint64_t i = 0; i < header.program_count; ++i) {
      const std::uint64_t at = header.program_offset + i * kProgramSize;
      if (!lies_inside(bytes_, at, kProgramSize)) return;
      need(load_little<std::uint64_t>(bytes_, at + 8), load_little<std::uint64_t>(bytes_, at + 32));
    }
  }

  Status read_sections() {
    const ElfHeader& header = file_.header;
    sections_ = read_elf_sections_of(header, bytes_);
    for (const ElfSection& section : sections_)
      if (section.type != kNoBitsSection && section.type != 0) need(section.offset, section.size);
    const std::string_view names = table_of(bytes_, sections_, header.section_names);
    for (const ElfSection& section : sections_) {
      file_.sections.push_back(name_at(names, section.name).value_or(std::string_view{}));
    }
    // A file has one of each; reading only the first keeps the work linear when sections overlap.
    bool dynamic = false;
    bool symbols = false;
    for (const ElfSection& section : sections_) {
      if (!lies_inside(bytes_, section.offset, section.size)) continue;
      if (section.type == kDynamicSection && !dynamic) {
        dynamic = true;
        if (auto done = read_dynamic(section); !done) return done;
      } else if (section.type == kDynamicSymbolsSection && !symbols) {
        symbols = true;
        if (auto done = read_symbols(section); !done) return done;
      }
    }
    return {};
  }

  Status read_dynamic(const ElfSection& section) {
    const std::string_view names = table_of(bytes_, sections_, section.link);
    for (std::uint64_t at = 0; at + kDynamicSize <= section.size; at += kDynamicSize) {
      const std::uint64_t offset = section.offset + at;
      const auto tag = load_little<std::uint64_t>(bytes_, offset);
      if (tag == 0) break;
      constexpr std::uint64_t kNeeded = 1, kSoname = 14, kRpath = 15, kRunpath = 29;
      if (tag != kNeeded && tag != kSoname && tag != kRpath && tag != kRunpath) continue;
      const auto name = name_at(names, load_little<std::uint64_t>(bytes_, offset + 8));
      if (!name) return outside("a dynamic entry", offset);
      if (auto done = spend(name->size()); !done) return done;
      if (tag == kNeeded) file_.needed.push_back(*name);
      if (tag == kSoname) file_.soname = *name;
      if (tag == kRpath || tag == kRunpath) file_.run_path.push_back(*name);
    }
    return {};
  }

  Status read_symbols(const ElfSection& section) {
    const std::string_view names = table_of(bytes_, sections_, section.link);
    const std::uint64_t count = section.size / kSymbolSize;
    if (count > limits_.max_symbols) {
      return fail(ErrorCode::kLimitWork, fmt::format("more than {} dynamic symbols", limits_.max_symbols));
    }
    for (std::uint64_t i = 1; i < count; ++i) {  // the first is reserved
      const std::uint64_t offset = section.offset + i * kSymbolSize;
      const auto name = name_at(names, load_little<std::uint32_t>(bytes_, offset));
      if (!name) return outside("a dynamic symbol", offset);
      if (auto done = spend(name->size()); !done) return done;
      const unsigned binding = load_little<std::uint8_t>(bytes_, offset + 4) >> 4;
      if (name->empty() || (binding != 1 && binding != 2 && binding != 10)) continue;  // global, weak, unique
      const bool defined = load_little<std::uint16_t>(bytes_, offset + 6) != 0;
      (defined ? file_.exported : file_.undefined).push_back(*name);
    }
    return {};
  }

  /// Looking for the end of a name costs its length; names may overlap, so the sum needs a bound of its own.
  Status spend(std::size_t steps) {
    constexpr std::uint64_t kStepsPerByte = 16;
    steps_ += steps;
    if (steps_ > bytes_.size() * kStepsPerByte)
      return fail(ErrorCode::kLimitWork, "symbol names overlap too much");
    return {};
  }

  static Status outside(const char* what, std::uint64_t offset) {
    return fail(ErrorCode::kMalformed, fmt::format("{} names a string outside its table", what), {}, offset);
  }

  std::string_view bytes_;
  ElfLimits limits_;
  ElfFile file_;
  std::vector<ElfSection> sections_;
  std::uint64_t steps_ = 0;
};

}  // namespace

std::uint64_t ElfHeader::tables_end() const {
  std::uint64_t end = kElfHeaderSize;
  if (program_count > 0) end = std::max(end, end_of(program_offset, program_count * kProgramSize));
  if (section_count > 0) end = std::max(end, end_of(section_offset, section_count * kElfSectionSize));
  return end;
}

std::optional<std::uint32_t> ElfHeader::cuda_architecture() const {
  if (machine != kMachineCuda) return {};
  return abi_version >= 8 ? (flags >> 8) & 0xff : flags & 0xff;
}

bool looks_like_elf(std::string_view bytes) {
  return bytes.starts_with(
      "\x7f"
      "ELF");
}

Expected<ElfHeader> read_elf_header(std::string_view bytes) {
  if (!looks_like_elf(bytes)) {
    if (std::string_view("\x7f"
                         "ELF")
            .starts_with(bytes)) {
      return fail(ErrorCode::kTruncated, "the file ends inside the ELF header", {}, bytes.size());
    }
    return fail(ErrorCode::kMalformed, "not an ELF file", {}, 0);
  }
  if (bytes.size() < kElfHeaderSize) {
    return fail(ErrorCode::kTruncated, "the file ends inside the ELF header", {}, bytes.size());
  }
  if (bytes[4] != 2 || bytes[5] != 1) {
    return fail(ErrorCode::kUnsupported, "an ELF file that isn't 64-bit little-endian", {}, 4);
  }
  ElfHeader header;
  header.os_abi = load_little<std::uint8_t>(bytes, 7);
  header.abi_version = load_little<std::uint8_t>(bytes, 8);
  header.type = load_little<std::uint16_t>(bytes, 16);
  header.machine = load_little<std::uint16_t>(bytes, 18);
  header.program_offset = load_little<std::uint64_t>(bytes, 32);
  header.section_offset = load_little<std::uint64_t>(bytes, 40);
  header.flags = load_little<std::uint32_t>(bytes, 48);
  header.program_count = load_little<std::uint16_t>(bytes, 56);
  header.section_count = load_little<std::uint16_t>(bytes, 60);
  header.section_names = load_little<std::uint16_t>(bytes, 62);
  const bool odd_program = header.program_count > 0 && load_little<std::uint16_t>(bytes, 54) != kProgramSize;
  const bool odd_section =
      header.section_count > 0 && load_little<std::uint16_t>(bytes, 58) != kElfSectionSize;
  if (odd_program || odd_section) {
    return fail(ErrorCode::kMalformed, "ELF header tables of an unknown entry size", {},
                odd_program ? 54 : 58);
  }
  return header;
}

bool ElfFile::exports(std::string_view symbol) const {
  return std::find(exported.begin(), exported.end(), symbol) != exported.end();
}

Expected<ElfFile> read_elf(std::string_view bytes, const ElfLimits& limits) {
  return Reader(bytes, limits).read();
}

}  // namespace cachetool::container
