#include "store/opened_entry.h"

#include <utility>
#include <variant>

#include "store/lookup.h"
#include "store/paths.h"
#include "store/words.h"

namespace cachetool::store {
namespace {

tl::unexpected<Error> with_path(Error error, const std::string& path) {
  error.path = path;
  return tl::unexpected(std::move(error));
}

Expected<OpenedEntry> decode(OpenedEntry entry, std::string bytes, const FileStat& stat,
                             const ReadLimits& limits) {
  entry.bytes = bytes.size();
  entry.modified_ns = stat.mtime_ns;
  entry.sha256 = sha256(bytes);
  Budget budget = limits.budget(bytes.size());
  auto decoded = torch::decode_entry_owned(std::move(bytes), budget);
  if (!decoded) return with_path(decoded.error(), entry.path);
  entry.decoded = std::move(*decoded);
  entry.release = torch::identify_release(entry.decoded);
  if (entry.kind.empty()) {
    entry.kind = entry.decoded.aot_entry() != nullptr     ? "aotautograd"
                 : entry.decoded.output_code() != nullptr ? "fxgraph"
                                                          : "pickle";
  }
  return entry;
}

}  // namespace

Expected<OpenedEntry> open_entry(Source& source, const EntryRef& ref, const ReadLimits& limits) {
  OpenedEntry entry;
  entry.kind = kind_word(ref.key.kind);
  if (ref.key.key != torch::HashName{}) {
    entry.key = ref.key.key.str();
    entry.place = ref.key;
  }
  entry.leaf = ref.leaf;
  entry.path = entry_path(source.cache(), ref);
  std::string bytes;
  const auto stat = source.read_entry(ref, limits.max_entry_bytes, bytes);
  if (!stat) return with_path(stat.error(), entry.path);
  return decode(std::move(entry), std::move(bytes), *stat, limits);
}

Expected<OpenedEntry> open_entry_file(Source& source, std::uint32_t root, const std::string& path,
                                      const ReadLimits& limits) {
  OpenedEntry entry;
  entry.path = path;
  entry.leaf = name_of(path);
  std::string bytes;
  const auto stat = source.read_file(root, path, limits.max_entry_bytes, bytes);
  if (!stat) return with_path(stat.error(), path);
  return decode(std::move(entry), std::move(bytes), *stat, limits);
}

}  // namespace cachetool::store
