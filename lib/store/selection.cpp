#include "store/selection.h"

#include <iterator>
#include <utility>

#include "store/cache_set.h"
#include "store/classify.h"
#include "store/lookup.h"

namespace cachetool::store {
namespace {

// Every entry in the source's scope.
void add_entries(Source& source, Selection& selection) {
  const CacheSet& cache = source.cache();
  for (const KeyRef& key : source.keys(selection.skipped)) {
    auto listing = source.open_key(key);
    if (!listing) {
      if (listing.error().code == ErrorCode::kVanished) continue;
      selection.skipped.push_back(
          {cache.stores[key.store].root, listing.error().path, FileType::kDirectory, listing.error()});
      continue;
    }
    std::move(listing->skipped.begin(), listing->skipped.end(), std::back_inserter(selection.skipped));
    std::move(listing->entries.begin(), listing->entries.end(), std::back_inserter(selection.entries));
  }
}

// One entry of a file that packs entries, as listings write it: `FILE!inductor/KEY`. `member` begins with
// '!'.
Expected<Selection> select_member(FileSystem& fs, const Environment& environment, std::string_view file,
                                  std::string_view member) {
  auto selection = select_path(fs, environment, file);
  if (!selection) return selection;
  const CacheSet& set = selection->source->cache();
  std::erase_if(selection->entries,
                [&](const EntryRef& entry) { return !entry_path(set, entry).ends_with(member); });
  if (!selection->entries.empty()) return selection;
  return fail(ErrorCode::kNoSuchKey, "the file packs no such entry", std::string(file) + std::string(member));
}

}  // namespace

bool names_path(FileSystem& fs, const Environment& environment, std::string_view argument) {
  if (argument.starts_with("key:")) return false;
  const auto found = resolve_cache(fs, environment, argument);
  if (found || found.error().code != ErrorCode::kNotFound) return true;
  return !looks_like_key(argument);
}

Expected<Selection> select_path(FileSystem& fs, const Environment& environment, std::string_view path) {
  auto cache = resolve_cache(fs, environment, path);
  const std::size_t mark = path.rfind('!');
  if (!cache && cache.error().code == ErrorCode::kNotFound && mark != std::string_view::npos)
    return select_member(fs, environment, path.substr(0, mark), path.substr(mark));
  if (!cache) return tl::unexpected(cache.error());
  Selection selection;
  selection.source = make_directory_source(fs, std::move(*cache));
  add_entries(*selection.source, selection);
  const CacheSet& set = selection.source->cache();
  if (!selection.entries.empty() || !set.scope_is_file) return selection;
  // A link, a FIFO, a damaged packing file: why it gives no entries.
  if (!selection.skipped.empty()) {
    Error error = std::move(selection.skipped.front().error);
    error.path = path;
    return tl::unexpected(std::move(error));
  }
  const ArtifactKind kind = set.roots[0].role == RootRole::kSingleFile
                                ? set.single_file_kind
                                : classify(set.roots[0].role, set.scope).kind;
  if (kind != ArtifactKind::kPgoState && kind != ArtifactKind::kPrecompile &&
      kind != ArtifactKind::kUnknown) {
    return fail(ErrorCode::kUsage, "is no entry but belongs to: " + std::string(kind_title(kind)),
                std::string(path), {}, "cachetool which tells the entries that own a file");
  }
  selection.file = set.scope;
  return selection;
}

Expected<Selection> select_key(std::shared_ptr<Source> source, std::string_view argument) {
  auto entries = lookup(*source, argument);
  if (!entries) return tl::unexpected(entries.error());
  Selection selection;
  selection.source = std::move(source);
  selection.entries = std::move(*entries);
  return selection;
}

}  // namespace cachetool::store
