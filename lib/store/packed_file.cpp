#include "store/packed_file.h"

#include "container/frame.h"

namespace cachetool::store {
namespace {

using torch::EntryKind;
using torch::HashName;

/// `blob` is a mega-cache that starts at `base` in the file.
Status add_mega_cache(std::string_view blob, std::uint64_t base, std::vector<PackedEntry>& found) {
  auto mega = container::read_mega_cache(blob);
  if (!mega) {
    if (mega.error().offset) *mega.error().offset += base;
    return tl::unexpected(std::move(mega.error()));
  }
  for (const container::MegaCacheGroup& group : mega->groups) {
    const bool graphs = group.type == "inductor";
    if (!graphs && group.type != "aot_autograd") continue;
    const EntryKind kind = graphs ? EntryKind::kFxGraph : EntryKind::kAotAutograd;
    for (const container::MegaCacheItem& item : group.items) {
      const auto key = HashName::parse(item.key).value_or(HashName{});
      found.push_back(
          {key, kind, torch::content_hash(item.content), base + item.offset, item.content.size()});
    }
  }
  return {};
}

}  // namespace

Expected<std::vector<PackedEntry>> packed_entries(std::string_view bytes, ArtifactKind kind) {
  std::vector<PackedEntry> found;
  const auto add_part = [&](std::string_view part, EntryKind entry_kind) {
    const auto offset = static_cast<std::uint64_t>(part.data() - bytes.data());
    found.push_back({HashName{}, entry_kind, torch::content_hash(part), offset, part.size()});
  };
  switch (kind) {
    case ArtifactKind::kFxGraphEntry:
      add_part(bytes, EntryKind::kFxGraph);
      break;
    case ArtifactKind::kAotAutogradEntry:
      add_part(bytes, EntryKind::kAotAutograd);
      break;
    case ArtifactKind::kMegaCache:
      if (auto read = add_mega_cache(bytes, 0, found); !read) return tl::unexpected(std::move(read.error()));
      break;
    case ArtifactKind::kStandaloneArtifact: {
      auto artifact = container::read_standalone(bytes);
      if (!artifact) return tl::unexpected(std::move(artifact.error()));
      if (artifact->form == container::StandaloneArtifact::Form::kAot) {
        add_part(artifact->bundle, EntryKind::kAotAutograd);
        break;
      }
      const auto base = static_cast<std::uint64_t>(artifact->mega_cache.data() - bytes.data());
      if (auto read = add_mega_cache(artifact->mega_cache, base, found); !read) {
        return tl::unexpected(std::move(read.error()));
      }
      break;
    }
    default:
      break;
  }
  return found;
}

}  // namespace cachetool::store
