#include "container/loader_cache.h"

#include "container/elf_layout.h"

namespace cachetool::container {

Expected<std::vector<LoaderCacheEntry>> read_loader_cache(std::string_view bytes) {
  constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
  constexpr std::uint64_t kHeaderSize = 48;
  constexpr std::uint64_t kEntrySize = 24;
  constexpr std::uint32_t kX86_64 = 0x303;
  constexpr std::uint32_t kAArch64 = 0xa03;
  if (!bytes.starts_with(kMagic)) return fail(ErrorCode::kUnsupported, "not the loader's cache", {}, 0);
  if (bytes.size() < kHeaderSize) return fail(ErrorCode::kMalformed, "the loader's cache is cut off");
  const auto count = load_little<std::uint32_t>(bytes, 20);
  if (!lies_inside(bytes, kHeaderSize, std::uint64_t{count} * kEntrySize))
    return fail(ErrorCode::kMalformed, "the loader's cache is cut off", {}, kHeaderSize);
  ElfStrings strings(bytes);
  std::vector<LoaderCacheEntry> entries;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = kHeaderSize + i * kEntrySize;
    const auto flags = load_little<std::uint32_t>(bytes, at);
    if (flags != kX86_64 && flags != kAArch64) continue;
    const auto soname = strings.at(load_little<std::uint32_t>(bytes, at + 4));
    const auto path = strings.at(load_little<std::uint32_t>(bytes, at + 8));
    if (!soname || !path)
      return fail(ErrorCode::kMalformed, "the loader's cache names a string outside it", {}, at);
    entries.push_back({*soname, *path});
  }
  return entries;
}

}  // namespace cachetool::container
