#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "container/elf.h"

/// Small ELF files for tests, written from what they should say.
namespace elf_tests {

inline void append(std::string& bytes, std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i, value >>= 8) bytes += static_cast<char>(value & 0xff);
}

struct Section {
  std::string name;
  std::uint32_t type = 1;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::string bytes;
  std::uint32_t link = 0;
  std::uint64_t size = 0;  ///< of a section without bytes (type 8)
};

struct File {
  std::uint16_t machine = cachetool::container::kMachineX86_64;
  std::uint32_t flags = 0;
  std::uint8_t abi_version = 0;
  std::vector<Section> sections;  ///< the first one gets number 1
};

inline std::string make_elf(const File& file) {
  constexpr std::size_t kHeader = 64;
  std::string names(1, '\0');
  std::vector<std::size_t> name_offsets;
  for (const Section& section : file.sections) {
    name_offsets.push_back(names.size());
    names += section.name + '\0';
  }
  const std::size_t own_name = names.size();
  names += std::string(".shstrtab") + '\0';
  std::string body;
  std::string table(64, '\0');
  const auto row = [&](std::size_t name, const Section& section, std::size_t offset) {
    append(table, name, 4);
    append(table, section.type, 4);
    append(table, section.flags, 8);
    append(table, section.address, 8);
    append(table, offset, 8);
    append(table, section.type == 8 ? section.size : section.bytes.size(), 8);
    append(table, section.link, 4);
    append(table, 0, 4);
    append(table, 1, 8);
    append(table, 0, 8);
  };
  for (std::size_t i = 0; i < file.sections.size(); ++i) {
    body.resize((body.size() + 7) / 8 * 8, '\0');
    row(name_offsets[i], file.sections[i], kHeader + body.size());
    body += file.sections[i].bytes;
  }
  row(own_name, {".shstrtab", 3, 0, 0, names, 0, 0}, kHeader + body.size());
  body += names;
  body.resize((body.size() + 7) / 8 * 8, '\0');
  std::string header(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  append(header, 0, 1);
  append(header, file.abi_version, 1);
  header.resize(16, '\0');
  append(header, 3, 2);
  append(header, file.machine, 2);
  append(header, 1, 4);
  append(header, 0, 8);
  append(header, 0, 8);
  append(header, kHeader + body.size(), 8);
  append(header, file.flags, 4);
  append(header, kHeader, 2);
  append(header, 56, 2);
  append(header, 0, 2);
  append(header, 64, 2);
  append(header, file.sections.size() + 2, 2);
  append(header, file.sections.size() + 1, 2);
  return header + body + table;
}

struct Import {
  std::string name;
  std::string library = {};  ///< with `version`; empty for a symbol without one
  std::string version = {};
  bool weak = false;
};

struct Export {
  std::string name;
  std::string version = {};
  bool chosen_at_load = false;  ///< STT_GNU_IFUNC
  std::uint64_t address = 0;
};

struct SharedObject {
  std::string soname;
  std::vector<std::string> needed;
  std::string run_path;
  std::vector<Import> imports;
  std::vector<Export> exports;
  std::vector<std::string> versions;  ///< that it defines
  std::string code;                   ///< of .text, at address 0x1000
  std::uint16_t machine = cachetool::container::kMachineX86_64;
};

/// Sections: 1 .dynstr, 2 .dynsym, 3 .gnu.version, 4 .gnu.version_r, 5 .gnu.version_d, 6 .dynamic, 7 .text.
inline std::string make_shared_object(const SharedObject& object) {
  std::string names(1, '\0');
  const auto name = [&](const std::string& text) {
    const std::size_t at = names.size();
    names += text + '\0';
    return at;
  };
  std::map<std::string, std::uint16_t> numbers;
  std::uint16_t next = 2;
  std::string definitions;
  for (std::size_t i = 0; i < object.versions.size(); ++i) {
    numbers[object.versions[i]] = next;
    append(definitions, 1, 2);
    append(definitions, 0, 2);
    append(definitions, next++, 2);
    append(definitions, 1, 2);
    append(definitions, 0, 4);
    append(definitions, 20, 4);
    append(definitions, i + 1 == object.versions.size() ? 0 : 28, 4);
    append(definitions, name(object.versions[i]), 4);
    append(definitions, 0, 4);
  }
  std::map<std::string, std::map<std::string, bool>> wanted;
  for (const Import& import : object.imports)
    if (!import.version.empty()) wanted[import.library][import.version] |= import.weak;
  std::string needs;
  std::size_t libraries = 0;
  for (const auto& [library, versions] : wanted) {
    append(needs, 1, 2);
    append(needs, versions.size(), 2);
    append(needs, name(library), 4);
    append(needs, 16, 4);
    append(needs, ++libraries == wanted.size() ? 0 : 16 + 16 * versions.size(), 4);
    std::size_t count = 0;
    for (const auto& [version, weak] : versions) {
      numbers[version] = next;
      append(needs, 0, 4);
      append(needs, weak ? 2 : 0, 2);
      append(needs, next++, 2);
      append(needs, name(version), 4);
      append(needs, ++count == versions.size() ? 0 : 16, 4);
    }
  }
  std::string symbols(24, '\0');
  std::string indexes(2, '\0');
  const auto symbol = [&](const std::string& text, unsigned binding, unsigned type, unsigned section,
                          std::uint64_t address, const std::string& version) {
    append(symbols, name(text), 4);
    append(symbols, binding << 4 | type, 1);
    append(symbols, 0, 1);
    append(symbols, section, 2);
    append(symbols, address, 8);
    append(symbols, 0, 8);
    append(indexes, version.empty() ? 1 : numbers[version], 2);
  };
  for (const Import& import : object.imports)
    symbol(import.name, import.weak ? 2 : 1, 0, 0, 0, import.version);
  for (const Export& exported : object.exports)
    symbol(exported.name, 1, exported.chosen_at_load ? 10 : 2, 7, exported.address, exported.version);
  std::string dynamic;
  const auto tag = [&](std::uint64_t number, std::uint64_t value) {
    append(dynamic, number, 8);
    append(dynamic, value, 8);
  };
  for (const std::string& library : object.needed) tag(1, name(library));
  if (!object.soname.empty()) tag(14, name(object.soname));
  if (!object.run_path.empty()) tag(29, name(object.run_path));
  tag(0, 0);
  File file;
  file.machine = object.machine;
  file.sections = {{".dynstr", 3, 0, 0, names, 0, 0},
                   {".dynsym", 11, 0, 0, symbols, 1, 0},
                   {".gnu.version", 0x6fffffff, 0, 0, indexes, 2, 0},
                   {".gnu.version_r", 0x6ffffffe, 0, 0, needs, 1, 0},
                   {".gnu.version_d", 0x6ffffffd, 0, 0, definitions, 1, 0},
                   {".dynamic", 6, 0, 0, dynamic, 1, 0},
                   {".text", 1, 6, 0x1000, object.code, 0, 0}};
  return make_elf(file);
}

struct CubinKernel {
  std::string name;
  std::uint32_t threads = 0;       ///< 0: the file doesn't say
  std::uint64_t shared_bytes = 0;  ///< 0: no section for it
  bool entry = true;
};

/// `flags` and `abi_version` as the header has them; `options`: text of ptxas's note, no note when empty.
inline std::string make_cubin(std::uint32_t flags, std::uint8_t abi_version,
                              const std::vector<CubinKernel>& kernels, const std::string& options = {}) {
  std::string names(1, '\0');
  std::string symbols(24, '\0');
  File file;
  file.machine = cachetool::container::kMachineCuda;
  file.flags = flags;
  file.abi_version = abi_version;
  for (const CubinKernel& kernel : kernels) {
    append(symbols, names.size(), 4);
    append(symbols, 0x12, 1);
    append(symbols, kernel.entry ? 0x10 : 0, 1);
    append(symbols, 1, 2);
    append(symbols, 0, 8);
    append(symbols, 0, 8);
    names += kernel.name + '\0';
    std::string info;
    append(info, 0x1901, 2);  // an attribute without a size: format 1
    append(info, 0, 2);
    if (kernel.threads > 0) {
      append(info, 4, 1);
      append(info, 0x10, 1);
      append(info, 12, 2);
      append(info, kernel.threads, 4);
      append(info, 1, 4);
      append(info, 1, 4);
    }
    file.sections.push_back({".nv.info." + kernel.name, 0x70000000, 0, 0, info, 0, 0});
    if (kernel.shared_bytes > 0)
      file.sections.push_back({".nv.shared." + kernel.name, 8, 0, 0, {}, 0, kernel.shared_bytes});
  }
  if (!options.empty()) file.sections.push_back({".note.nv.tkinfo", 7, 0, 0, options + '\0', 0, 0});
  file.sections.push_back({".strtab", 3, 0, 0, names, 0, 0});
  const auto strings = static_cast<std::uint32_t>(file.sections.size());
  file.sections.push_back({".symtab", 2, 0, 0, symbols, strings, 0});
  return make_elf(file);
}

}  // namespace elf_tests
