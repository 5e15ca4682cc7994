#include "verify/packed_files.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"
#include "container/frame.h"
#include "container/json.h"
#include "store/classify.h"
#include "store/paths.h"
#include "torch/known_builds.h"
#include "verify/damage.h"
#include "verify/entry_bytes.h"
#include "verify/structure_checks.h"

namespace cachetool::verify {
namespace {

using container::MegaCache;
using container::MegaCacheGroup;
using container::MegaCacheItem;
using torch::EntryKind;
using torch::HashName;

// torch/compiler/_cache.py: CacheArtifactFactory.register, by all modules of 2.8 to 2.15.
constexpr std::array<std::string_view, 7> kTypes{
    "inductor",          "aot_autograd", "autotune", "pgo", "precompile", "precompile_aot_autograd",
    "precompile_dynamo",
};

/// The error's finding, offsets counted from the start of the file.
void report_frame(const FileInput& input, FileReport& report, const Error& error, std::uint64_t base) {
  report_damage(input, report, checks::kFrameDamaged, error.message,
                error.offset ? std::optional(*error.offset + base) : std::nullopt);
}

std::string part_path(const FileReport& report, std::string_view type, std::string_view key) {
  return fmt::format("{}!{}/{}", report.path(), type, key);
}

/// The items of one mega-cache, one after the other.
class PackedItems {
 public:
  PackedItems(const FileInput& input, FileReport& report, std::uint64_t base)
      : input_(input), report_(report), base_(base) {}

  Status check(const MegaCache& mega) {
    for (const MegaCacheGroup& group : mega.groups) {
      judge_type(group);
      for (const MegaCacheItem& item : group.items)
        if (auto done = check_item(group.type, item); !done) return done;
    }
    judge_references();
    return {};
  }

  const std::set<HashName>& aot_keys() const { return aot_keys_; }

 private:
  void judge_type(const MegaCacheGroup& group) {
    if (std::find(kTypes.begin(), kTypes.end(), group.type) == kTypes.end()) {
      report_.found(
          checks::kMegaCacheType,
          {.message = fmt::format("type \"{}\"; where it isn't registered, nothing of the file loads",
                                  escape_for_terminal(group.type))});
    } else {
      report_.fine(checks::kMegaCacheType);
    }
    auto [earlier, first] = items_of_type_.try_emplace(group.type, group.items.size());
    if (first) return report_.fine(checks::kMegaCacheReplaced);
    report_.found(checks::kMegaCacheReplaced,
                  {.message = fmt::format("{} {} items are replaced by {} of a later group", earlier->second,
                                          group.type, group.items.size())});
    earlier->second = group.items.size();
  }

  Status check_item(const std::string& type, const MegaCacheItem& item) {
    if (type == "inductor") return check_entry(type, EntryKind::kFxGraph, 'f', item);
    if (type == "aot_autograd") return check_entry(type, EntryKind::kAotAutograd, 'a', item);
    if (type == "autotune") check_autotune(type, item);
    return {};
  }

  Status check_entry(const std::string& type, EntryKind kind, char prefix, const MegaCacheItem& item) {
    FileReport part(report_.root(), part_path(report_, type, item.key));
    const auto key = HashName::parse(item.key);
    const bool fits = key && key->prefix == prefix;
    if (fits) {
      part.fine(checks::kPackedKey);
      (kind == EntryKind::kFxGraph ? graph_keys_ : aot_keys_).insert(*key);
    } else {
      part.found(checks::kPackedKey,
                 {.message = fmt::format("\"{}\" is no key of an entry", escape_for_terminal(item.key)),
                  .offset = base_ + item.offset});
    }
    part.set_key(item.key);
    EntryPlace place;
    place.kind = kind;
    if (fits) place.key = key;
    place.offset = base_ + item.offset;
    auto facts = check_entry_bytes(item.content, place, input_.options().limits, part);
    if (!facts) return tl::unexpected(std::move(facts.error()));
    if (*facts) {
      for (const GraphReferenceFacts& reference : (*facts)->references)
        references_.emplace_back(reference.key, part.path());
    }
    report_.add(std::move(part));
    return {};
  }

  /// `<xx>/<hash>.best_config`, written below the cache as it is.
  void check_autotune(const std::string& type, const MegaCacheItem& item) {
    FileReport part(report_.root(), part_path(report_, type, item.key));
    const auto classified = store::classify(store::RootRole::kInductor, item.key);
    const std::uint64_t offset = base_ + item.offset;
    if (item.key.empty() || classified.kind != store::ArtifactKind::kBestConfig) {
      part.found(checks::kPackedKey,
                 {.message = "the key is no place of an autotune result", .offset = offset});
    } else {
      part.fine(checks::kPackedKey);
    }
    const auto tree = container::read_json(item.content, {}, container::NonFinite::kAllowed);
    if (!tree) {
      part.found(checks::kFileJson,
                 {.message = tree.error().message + "; torch raises or tunes again when it reads it",
                  .offset = offset + tree.error().offset.value_or(0)});
    } else if (!tree->root().is(container::NodeKind::kMap)) {
      part.found(checks::kFileShape, {.message = "not an object", .offset = offset});
    } else {
      part.fine(checks::kFileJson);
    }
    report_.add(std::move(part));
  }

  void judge_references() {
    for (const auto& [key, path] : references_) {
      FileReport part(report_.root(), path);
      if (graph_keys_.contains(key)) {
        part.fine(checks::kPackedGraphMissing);
      } else {
        part.found(checks::kPackedGraphMissing,
                   {.message = fmt::format(
                        "it needs the graph {}; torch compiles again where the cache lacks it", key.str())});
      }
      report_.add(std::move(part));
    }
  }

  const FileInput& input_;
  FileReport& report_;
  std::uint64_t base_;
  std::map<std::string, std::size_t> items_of_type_;
  std::set<HashName> graph_keys_;
  std::set<HashName> aot_keys_;
  std::vector<std::pair<HashName, std::string>> references_;
};

/// False when that is all there is to say: the file is empty, or only its head was asked for.
Expected<bool> may_read_whole(FileInput& input, FileReport& report, bool (*looks_right)(std::string_view)) {
  constexpr std::size_t kHead = 64;
  if (input.stat().size == 0) {
    report_damage(input, report, checks::kFileEmpty, "the file is empty");
    return false;
  }
  if (input.depth() != Depth::kQuick) return true;
  const auto head = input.head(kHead);
  if (!head) return tl::unexpected(head.error());
  if (!looks_right(*head)) report_damage(input, report, checks::kFrameDamaged, "no such file starts so", 0);
  return false;
}

void judge_torch_key(const container::StandaloneArtifact& artifact, FileReport& report) {
  const std::string key =
      to_hex({reinterpret_cast<const std::uint8_t*>(artifact.torch_key.data()), artifact.torch_key.size()});
  for (const torch::KnownBuild& build : torch::known_builds())
    if (build.torch_key == key) return report.fine(checks::kStandaloneTorchKey);
  report.found(checks::kStandaloneTorchKey, {.message = fmt::format("torch_key {}", key)});
}

}  // namespace

Expected<Facts> check_mega_cache(FileInput& input, FileReport& report) {
  auto whole = may_read_whole(input, report, container::looks_like_mega_cache);
  if (!whole) return tl::unexpected(std::move(whole.error()));
  if (!*whole) return Facts{};
  const auto bytes = input.whole();
  if (!bytes) return tl::unexpected(bytes.error());
  const auto mega = container::read_mega_cache(*bytes);
  if (!mega) {
    report_frame(input, report, mega.error(), 0);
    return Facts{};
  }
  report.fine(checks::kFrameDamaged);
  if (auto done = PackedItems(input, report, 0).check(*mega); !done)
    return tl::unexpected(std::move(done.error()));
  return Facts{};
}

Expected<Facts> check_standalone(FileInput& input, FileReport& report) {
  auto whole = may_read_whole(input, report, container::looks_like_standalone);
  if (!whole) return tl::unexpected(std::move(whole.error()));
  if (!*whole) return Facts{};
  const auto bytes = input.whole();
  if (!bytes) return tl::unexpected(bytes.error());
  const auto artifact = container::read_standalone(*bytes);
  if (!artifact) {
    report_frame(input, report, artifact.error(), 0);
    return Facts{};
  }
  judge_torch_key(*artifact, report);
  const auto offset_of = [&](std::string_view part) {
    return static_cast<std::uint64_t>(part.data() - bytes->data());
  };
  if (artifact->form == container::StandaloneArtifact::Form::kAot) {
    report.fine(checks::kFrameDamaged);
    FileReport part(report.root(), part_path(report, "aot_autograd", "bundle"));
    const EntryPlace place{EntryKind::kAotAutograd, {}, {}, offset_of(artifact->bundle)};
    auto facts = check_entry_bytes(artifact->bundle, place, input.options().limits, part);
    if (!facts) return tl::unexpected(std::move(facts.error()));
    report.add(std::move(part));
    return StandaloneFacts{};
  }
  const std::uint64_t base = offset_of(artifact->mega_cache);
  const auto mega = container::read_mega_cache(artifact->mega_cache);
  if (!mega) {
    report_frame(input, report, mega.error(), base);
    return Facts{};
  }
  report.fine(checks::kFrameDamaged);
  PackedItems items(input, report, base);
  if (auto done = items.check(*mega); !done) return tl::unexpected(std::move(done.error()));
  const auto key = HashName::parse(artifact->aot_key);
  if (key && items.aot_keys().contains(*key)) {
    report.fine(checks::kStandaloneKey);
  } else {
    report_damage(input, report, checks::kStandaloneKey,
                  fmt::format("no AOTAutograd entry {}", escape_for_terminal(artifact->aot_key)));
  }
  return StandaloneFacts{artifact->aot_key};
}

}  // namespace cachetool::verify
