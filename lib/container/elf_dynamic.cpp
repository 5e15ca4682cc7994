#include "container/elf_dynamic.h"

#include <fmt/format.h>

#include <unordered_map>

namespace cachetool::container {
namespace {

constexpr std::uint64_t kSymbolSize = 24;
constexpr std::uint64_t kDynamicSize = 16;
constexpr std::uint64_t kNeedSize = 16;
constexpr std::uint64_t kNeedVersionSize = 16;
constexpr std::uint64_t kDefinitionSize = 20;
constexpr std::uint64_t kDefinitionNameSize = 8;

class Reader {
 public:
  Reader(const DynamicTables& tables, const ElfLimits& limits)
      : tables_(tables), limits_(limits), names_(tables.names) {}

  Expected<ElfDynamic> read() {
    for (const auto step : {&Reader::read_dynamic_section, &Reader::read_needs, &Reader::read_definitions,
                            &Reader::read_symbols}) {
      if (auto done = (this->*step)(); !done) return tl::unexpected(std::move(done.error()));
    }
    return std::move(result_);
  }

 private:
  Status read_dynamic_section() {
    constexpr std::uint64_t kNeeded = 1, kSoname = 14, kRpath = 15, kRunpath = 29;
    const std::string_view table = tables_.dynamic;
    for (std::uint64_t at = 0; lies_inside(table, at, kDynamicSize); at += kDynamicSize) {
      const auto tag = load_little<std::uint64_t>(table, at);
      if (tag == 0) break;
      if (tag != kNeeded && tag != kSoname && tag != kRpath && tag != kRunpath) continue;
      const auto name = names_.at(load_little<std::uint64_t>(table, at + 8));
      if (!name) return tl::unexpected(name.error());
      if (tag == kNeeded) result_.needed.push_back(*name);
      if (tag == kSoname) result_.soname = *name;
      if (tag == kRpath || tag == kRunpath) result_.run_path.push_back(*name);
    }
    return {};
  }

  /// Entries are chained by distances, and so are the versions of each: the steps of all chains together are
  /// bounded by what the table can hold without overlaps.
  Status read_needs() {
    const std::string_view table = tables_.version_needs;
    std::uint64_t steps = table.size() / kNeedVersionSize;
    for (std::uint64_t at = 0; lies_inside(table, at, kNeedSize);) {
      const auto library = names_.at(load_little<std::uint32_t>(table, at + 4));
      if (!library) return tl::unexpected(library.error());
      std::uint64_t version_at = at + load_little<std::uint32_t>(table, at + 8);
      for (std::uint32_t left = load_little<std::uint16_t>(table, at + 2); left > 0; --left) {
        if (!lies_inside(table, version_at, kNeedVersionSize)) return outside("version needs", version_at);
        if (steps-- == 0) return fail(ErrorCode::kMalformed, "version needs that overlap");
        const auto version = names_.at(load_little<std::uint32_t>(table, version_at + 8));
        if (!version) return tl::unexpected(version.error());
        const bool weak = (load_little<std::uint16_t>(table, version_at + 4) & 2) != 0;
        needs_[load_little<std::uint16_t>(table, version_at + 6) & kIndexMask] = result_.version_needs.size();
        result_.version_needs.push_back({*library, *version, weak});
        version_at += load_little<std::uint32_t>(table, version_at + 12);
      }
      const auto next = load_little<std::uint32_t>(table, at + 12);
      if (next == 0) break;
      if (next < kNeedSize) return fail(ErrorCode::kMalformed, "version needs that overlap");
      at += next;
    }
    return {};
  }

  Status read_definitions() {
    constexpr std::uint16_t kBase = 1;  // VER_FLG_BASE: the file itself
    const std::string_view table = tables_.version_definitions;
    for (std::uint64_t at = 0; lies_inside(table, at, kDefinitionSize);) {
      const std::uint64_t name_at = at + load_little<std::uint32_t>(table, at + 12);
      if (!lies_inside(table, name_at, kDefinitionNameSize)) return outside("version definitions", name_at);
      const auto name = names_.at(load_little<std::uint32_t>(table, name_at));
      if (!name) return tl::unexpected(name.error());
      if ((load_little<std::uint16_t>(table, at + 2) & kBase) == 0) {
        definitions_[load_little<std::uint16_t>(table, at + 4) & kIndexMask] = *name;
        result_.versions.push_back(*name);
      }
      const auto next = load_little<std::uint32_t>(table, at + 16);
      if (next == 0) break;
      if (next < kDefinitionSize) return fail(ErrorCode::kMalformed, "version definitions that overlap");
      at += next;
    }
    return {};
  }

  Status read_symbols() {
    constexpr unsigned kGlobal = 1, kWeak = 2, kUnique = 10, kIndirect = 10;
    const std::string_view table = tables_.symbols;
    const std::uint64_t count = table.size() / kSymbolSize;
    if (count > limits_.max_symbols) {
      return fail(ErrorCode::kLimitWork, fmt::format("more than {} dynamic symbols", limits_.max_symbols));
    }
    for (std::uint64_t i = 1; i < count; ++i) {  // the first is reserved
      const std::uint64_t at = i * kSymbolSize;
      const auto info = load_little<std::uint8_t>(table, at + 4);
      const unsigned binding = info >> 4;
      if (binding != kGlobal && binding != kWeak && binding != kUnique) continue;
      const auto name = names_.at(load_little<std::uint32_t>(table, at));
      if (!name) return tl::unexpected(name.error());
      if (name->empty()) continue;
      const bool defined = load_little<std::uint16_t>(table, at + 6) != 0;
      if (defined && (info & 0xf) == kIndirect) result_.chooses_at_load = true;
      if (defined) {
        result_.exports.push_back({*name, exported_version(i)});
      } else {
        result_.imports.push_back(imported(*name, i, binding == kWeak));
      }
    }
    return {};
  }

  std::uint16_t version_of(std::uint64_t symbol) const {
    if (!lies_inside(tables_.version_index, symbol * 2, 2)) return 1;
    return load_little<std::uint16_t>(tables_.version_index, symbol * 2) & kIndexMask;
  }

  std::string_view exported_version(std::uint64_t symbol) const {
    const auto found = definitions_.find(version_of(symbol));
    return found == definitions_.end() ? std::string_view{} : found->second;
  }

  ImportedSymbol imported(std::string_view name, std::uint64_t symbol, bool weak) const {
    const auto found = needs_.find(version_of(symbol));
    if (found == needs_.end()) return {name, {}, {}, weak};
    const VersionNeed& need = result_.version_needs[found->second];
    return {name, need.library, need.version, weak};
  }

  static Status outside(const char* what, std::uint64_t offset) {
    return fail(ErrorCode::kMalformed, fmt::format("{} lead outside their table", what), {}, offset);
  }

  static constexpr std::uint16_t kIndexMask = 0x7fff;  // the highest bit hides a version from new links

  const DynamicTables& tables_;
  const ElfLimits& limits_;
  ElfStrings names_;
  ElfDynamic result_;
  std::unordered_map<std::uint16_t, std::size_t> needs_;
  std::unordered_map<std::uint16_t, std::string_view> definitions_;
};

}  // namespace

Expected<DynamicSections> find_dynamic_sections(const std::vector<ElfSection>& sections) {
  DynamicSections found;
  std::optional<std::uint32_t> strings;
  bool differ = false;
  const auto take = [&](ElfSection& into, const ElfSection& section, bool linked) {
    if (into.size != 0) return;  // a file has one of each
    into = section;
    if (!linked) return;
    if (strings && *strings != section.link) differ = true;
    strings = section.link;
  };
  for (const ElfSection& section : sections) {
    switch (section.type) {
      case kDynamicSection:
        take(found.dynamic, section, true);
        break;
      case kDynamicSymbolsSection:
        take(found.symbols, section, true);
        break;
      case kVersionNeedsSection:
        take(found.version_needs, section, true);
        break;
      case kVersionDefinitionsSection:
        take(found.version_definitions, section, true);
        break;
      case kVersionIndexSection:
        take(found.version_index, section, false);
        break;
      default:
        break;
    }
  }
  if (differ) return fail(ErrorCode::kMalformed, "dynamic sections that use different string tables");
  if (strings && *strings < sections.size()) found.names = sections[*strings];
  return found;
}

Expected<ElfDynamic> read_dynamic(const DynamicTables& tables, const ElfLimits& limits) {
  return Reader(tables, limits).read();
}

Expected<ElfDynamic> read_elf_dynamic(std::string_view bytes, const ElfLimits& limits) {
  const auto header = read_elf_header(bytes);
  if (!header) return tl::unexpected(header.error());
  const auto sections = find_dynamic_sections(read_elf_sections_of(*header, bytes));
  if (!sections) return tl::unexpected(sections.error());
  DynamicTables tables;
  tables.dynamic = section_bytes(bytes, sections->dynamic);
  tables.symbols = section_bytes(bytes, sections->symbols);
  tables.names = section_bytes(bytes, sections->names);
  tables.version_index = section_bytes(bytes, sections->version_index);
  tables.version_needs = section_bytes(bytes, sections->version_needs);
  tables.version_definitions = section_bytes(bytes, sections->version_definitions);
  return read_dynamic(tables, limits);
}

}  // namespace cachetool::container
