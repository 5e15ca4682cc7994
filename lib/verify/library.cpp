#include "verify/library.h"

#include <algorithm>
#include <functional>

#include "base/text.h"

namespace cachetool::verify {
namespace {

// The largest table that a known library has is 60 MB (libtorch_cuda's names in a debug build).
constexpr std::uint64_t kMaxTable = std::uint64_t{256} << 20;

Expected<std::string> read_table(FileSystem& fs, const File& file, const container::ElfSection& section) {
  if (section.size == 0) return std::string();
  if (section.size > kMaxTable) return fail(ErrorCode::kLimitSize, "a symbol table is too large");
  return read_exactly(fs, file, section.offset, section.size);
}

std::size_t hash_of(std::string_view text) {
  return std::hash<std::string_view>{}(text);
}

}  // namespace

Expected<std::unique_ptr<Library>> Library::read(FileSystem& fs, PathFile file, std::uint16_t elf_machine) {
  const auto head = read_exactly(fs, *file.file, 0, container::kElfHeaderSize);
  if (!head) return tl::unexpected(head.error());
  const auto header = container::read_elf_header(*head);
  if (!header) return tl::unexpected(header.error());
  if (header->machine != elf_machine)
    return fail(ErrorCode::kUnsupported, "a library for another machine", file.path, 18);
  const auto rows = read_exactly(fs, *file.file, header->section_offset,
                                 header->section_count * container::kElfSectionSize);
  if (!rows) return tl::unexpected(rows.error());
  const auto sections = container::find_dynamic_sections(container::read_elf_sections(*header, *rows));
  if (!sections) return tl::unexpected(sections.error());
  std::unique_ptr<Library> library(new Library);
  const std::array<const container::ElfSection*, 6> wanted = {
      &sections->dynamic,       &sections->symbols,       &sections->names,
      &sections->version_index, &sections->version_needs, &sections->version_definitions};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    auto table = read_table(fs, *file.file, *wanted[i]);
    if (!table) return tl::unexpected(std::move(table.error()));
    library->tables_[i] = std::move(*table);
  }
  const auto& tables = library->tables_;
  auto dynamic = container::read_dynamic({tables[0], tables[1], tables[2], tables[3], tables[4], tables[5]});
  if (!dynamic) return tl::unexpected(std::move(dynamic.error()));
  library->dynamic_ = std::move(*dynamic);
  library->path_ = std::move(file.path);
  library->index();
  return library;
}

void Library::index() {
  by_hash_.reserve(dynamic_.exports.size());
  for (std::uint32_t i = 0; i < dynamic_.exports.size(); ++i)
    by_hash_.emplace_back(hash_of(dynamic_.exports[i].name), i);
  std::sort(by_hash_.begin(), by_hash_.end());
}

std::vector<std::string> Library::run_path() const {
  constexpr std::string_view kOrigin = "$ORIGIN";
  constexpr std::string_view kBraced = "${ORIGIN}";
  std::vector<std::string> directories;
  for (std::string_view list : dynamic_.run_path) {
    while (!list.empty()) {
      const std::string_view one = list.substr(0, list.find(':'));
      list.remove_prefix(std::min(list.size(), one.size() + 1));
      std::string directory(one);
      for (const std::string_view token : {kBraced, kOrigin}) {
        const std::size_t at = directory.find(token);
        if (at != std::string::npos) directory.replace(at, token.size(), directory_of_path(path_));
      }
      if (directory.starts_with('/')) directories.push_back(std::move(directory));
    }
  }
  return directories;
}

bool Library::defines_version(std::string_view version) const {
  const auto& versions = dynamic_.versions;
  return versions.empty() || std::find(versions.begin(), versions.end(), version) != versions.end();
}

bool Library::defines(std::string_view symbol, std::string_view version) const {
  const std::size_t hash = hash_of(symbol);
  auto at = std::lower_bound(by_hash_.begin(), by_hash_.end(), std::pair{hash, std::uint32_t{0}});
  for (; at != by_hash_.end() && at->first == hash; ++at) {
    const container::ExportedSymbol& found = dynamic_.exports[at->second];
    if (found.name != symbol) continue;
    if (version.empty() || found.version.empty() || found.version == version) return true;
  }
  return false;
}

std::string_view Library::newest_version(std::string_view prefix) const {
  std::string_view newest;
  for (const std::string_view version : dynamic_.versions) {
    if (!version.starts_with(prefix) || version.size() == prefix.size()) continue;
    if (!is_digit(version[prefix.size()])) continue;  // GLIBC_PRIVATE
    if (newest.empty() || version_before(newest, version)) newest = version;
  }
  return newest;
}

bool version_before(std::string_view a, std::string_view b) {
  const auto number = [](std::string_view& text) {
    const std::size_t size =
        static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
    std::string_view digits = text.substr(0, size);
    text.remove_prefix(size);
    while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
    return digits;
  };
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view left = number(a);
      const std::string_view right = number(b);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
    } else {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

}  // namespace cachetool::verify
