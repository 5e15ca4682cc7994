#include "store/lookup.h"

#include <algorithm>
#include <utility>

#include "store/paths.h"

namespace cachetool::store {
namespace {

using torch::EntryKind;
using torch::HashName;

constexpr std::string_view kForcedKey = "key:";
constexpr std::size_t kKeyLength = 52;
constexpr std::size_t kLeafLength = 51;
constexpr std::size_t kMaxListed = 20;

bool is_base32(std::string_view text) {
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567") == std::string_view::npos;
}

std::string key_and_leaf(const EntryRef& entry) {
  return entry.key.key.str() + "/" + entry.leaf;
}

tl::unexpected<Error> ambiguous(std::string_view text, std::vector<std::string> candidates) {
  const std::size_t count = candidates.size();
  std::string hint;
  for (std::size_t i = 0; i < std::min(count, kMaxListed); ++i) {
    if (i > 0) hint += '\n';
    hint += candidates[i];
  }
  if (count > kMaxListed) hint += "\n… and " + std::to_string(count - kMaxListed) + " more";
  return fail(ErrorCode::kAmbiguous, "'" + std::string(text) + "' fits " + std::to_string(count) + " names",
              {}, {}, std::move(hint));
}

/// The entries of `key` whose leaf starts with `leaf_prefix`.
Expected<std::vector<EntryRef>> candidates_of(Source& source, const KeyRef& key,
                                              std::string_view leaf_prefix) {
  auto listing = source.open_key(key);
  if (!listing) return tl::unexpected(std::move(listing.error()));
  std::vector<EntryRef> found;
  for (EntryRef& entry : listing->entries) {
    if (entry.leaf.starts_with(leaf_prefix)) found.push_back(std::move(entry));
  }
  return found;
}

/// Adds the entries of every key in `keys` (all of them the same key, in several stores or of both kinds).
Expected<std::vector<EntryRef>> entries_of(Source& source, const std::vector<KeyRef>& keys,
                                           std::string_view leaf_prefix) {
  std::vector<EntryRef> all;
  for (const KeyRef& key : keys) {
    auto found = candidates_of(source, key, leaf_prefix);
    if (!found) {
      const ErrorCode code = found.error().code;
      if (code == ErrorCode::kNoSuchKey || code == ErrorCode::kVanished) continue;
      return found;
    }
    std::move(found->begin(), found->end(), std::back_inserter(all));
  }
  return all;
}

/// The key in every store of one sort: directories, where looking costs two system calls, or packed files.
std::vector<KeyRef> keys_of_full_name(const Source& source, const HashName& name, bool packed) {
  std::vector<KeyRef> keys;
  const std::size_t count = source.cache().stores.size();
  for (std::size_t i = 0; i < count; ++i) {
    const EntryKind kind = name.prefix == 'f' ? EntryKind::kFxGraph : EntryKind::kAotAutograd;
    if (source.cache().stores[i].is_file() == packed)
      keys.push_back({name, kind, static_cast<std::uint16_t>(i)});
  }
  return keys;
}

/// Every entry whose leaf starts with `prefix`: the slow way, which opens each key.
std::vector<EntryRef> find_leaves(Source& source, const std::vector<KeyRef>& keys, std::string_view prefix) {
  std::vector<EntryRef> all;
  for (const KeyRef& key : keys) {
    auto found = candidates_of(source, key, prefix);
    if (found) std::move(found->begin(), found->end(), std::back_inserter(all));
  }
  return all;
}

tl::unexpected<Error> unknown(std::string_view text) {
  std::string hint;
  if (text.starts_with('c') && text.size() >= 8) {
    hint =
        "names that start with 'c' are generated modules and kernels: `cachetool which` finds the entries "
        "that use them";
  }
  return fail(ErrorCode::kNoSuchKey, "no entry of that name", std::string(text), {}, std::move(hint));
}

/// One entry, or all candidates of one key, else the error that says what fits.
Expected<std::vector<EntryRef>> unless_several(std::string_view text, std::vector<EntryRef> found,
                                               bool one_only) {
  if (found.empty()) return unknown(text);
  if (!one_only || found.size() == 1) return found;
  std::vector<std::string> names;
  for (const EntryRef& entry : found) names.push_back(key_and_leaf(entry));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.size() == 1) return found;  // one entry in several stores
  return ambiguous(text, std::move(names));
}

}  // namespace

std::string entry_path(const CacheSet& set, const EntryRef& entry) {
  const EntryStore& store = set.stores[entry.key.store];
  const std::string key = entry.key.key.str();
  if (store.is_file()) {
    if (entry.key.key == torch::HashName{}) return store.path;
    return store.path + (entry.key.kind == EntryKind::kFxGraph ? "!inductor/" : "!aot_autograd/") + key;
  }
  std::string path = store.path;
  if (entry.key.kind == EntryKind::kFxGraph) {
    path = join_path(join_path(path, "fxgraph"), std::string_view(key).substr(1, 2));
  } else {
    path = join_path(path, "aotautograd");
  }
  return join_path(join_path(path, key), entry.leaf);
}

bool looks_like_key(std::string_view text) {
  if (text.starts_with(kForcedKey)) return true;
  const std::size_t slash = text.find('/');
  const std::string_view key = text.substr(0, slash);
  if (key.empty() || key.size() > kKeyLength || !is_base32(key)) return false;
  if (slash == std::string_view::npos) return true;
  const std::string_view leaf = text.substr(slash + 1);
  return (key.front() == 'f' || key.front() == 'a') && leaf.find('/') == std::string_view::npos;
}

Expected<std::vector<EntryRef>> lookup(Source& source, std::string_view text) {
  std::string_view query = text;
  if (query.starts_with(kForcedKey)) query.remove_prefix(kForcedKey.size());
  const std::size_t slash = query.find('/');
  const bool with_leaf = slash != std::string_view::npos;
  const std::string_view key_text = query.substr(0, slash);
  const std::string_view leaf_text = with_leaf ? query.substr(slash + 1) : std::string_view();
  if (key_text.empty()) return fail(ErrorCode::kUsage, "a key is missing", std::string(text));

  if (const auto full = HashName::parse(key_text); full && (full->prefix == 'f' || full->prefix == 'a')) {
    auto found = entries_of(source, keys_of_full_name(source, *full, false), leaf_text);
    if (found && found->empty())
      found = entries_of(source, keys_of_full_name(source, *full, true), leaf_text);
    if (!found) return found;
    return unless_several(query, std::move(*found), with_leaf);
  }

  std::vector<Skipped> skipped;
  const std::vector<KeyRef> keys = source.keys(skipped);
  std::vector<KeyRef> matching;
  std::vector<std::string> names;
  for (const KeyRef& key : keys) {
    if (key.key == HashName{}) continue;  // packed, and the file names no key
    std::string name = key.key.str();
    if (!name.starts_with(key_text)) continue;
    matching.push_back(key);
    names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.size() > 1) return ambiguous(query, std::move(names));
  if (names.size() == 1) {
    auto found = entries_of(source, matching, leaf_text);
    if (!found) return found;
    return unless_several(query, std::move(*found), with_leaf);
  }
  if (with_leaf || key_text.size() > kLeafLength) return unknown(query);
  return unless_several(query, find_leaves(source, keys, key_text), true);
}

Expected<std::vector<KeyRef>> find_key(Source& source, std::string_view text) {
  std::string_view query = text;
  if (query.starts_with(kForcedKey)) query.remove_prefix(kForcedKey.size());
  if (query.empty() || query.find('/') != std::string_view::npos)
    return fail(ErrorCode::kUsage, "a key is wanted, or the beginning of one", std::string(text));

  if (const auto full = HashName::parse(query); full && (full->prefix == 'f' || full->prefix == 'a')) {
    std::vector<KeyRef> there;
    for (const bool packed : {false, true}) {
      for (const KeyRef& key : keys_of_full_name(source, *full, packed)) {
        const auto listing = source.open_key(key);
        if (listing) {
          there.push_back(key);
        } else if (listing.error().code != ErrorCode::kNoSuchKey &&
                   listing.error().code != ErrorCode::kVanished) {
          return tl::unexpected(listing.error());
        }
      }
      if (!there.empty()) return there;
    }
    return unknown(query);
  }

  std::vector<Skipped> skipped;
  std::vector<KeyRef> matching;
  for (const KeyRef& key : source.keys(skipped)) {
    if (key.key != HashName{} && key.key.str().starts_with(query)) matching.push_back(key);
  }
  if (matching.empty()) return unknown(query);
  std::vector<std::string> names;
  for (const KeyRef& key : matching) names.push_back(key.key.str());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.size() > 1) return ambiguous(query, std::move(names));
  return matching;
}

KeyAbbreviations::KeyAbbreviations(const std::vector<KeyRef>& keys, std::size_t minimum) : minimum_(minimum) {
  sorted_.reserve(keys.size());
  for (const KeyRef& key : keys) sorted_.push_back(key.key);
  std::sort(sorted_.begin(), sorted_.end());
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
}

std::size_t KeyAbbreviations::length(const HashName& key) const {
  const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), key);
  const std::string text = key.str();
  if (found == sorted_.end() || *found != key) return text.size();
  // The order of the digests is the order of their base32 texts, so only the neighbours can share the longest
  // prefix.
  std::size_t shared = 0;
  const auto compare = [&](const HashName& other) {
    const std::string other_text = other.str();
    const auto difference = std::mismatch(text.begin(), text.end(), other_text.begin(), other_text.end());
    shared = std::max(shared, static_cast<std::size_t>(difference.first - text.begin()));
  };
  if (found != sorted_.begin()) compare(*std::prev(found));
  if (std::next(found) != sorted_.end()) compare(*std::next(found));
  return std::min(text.size(), std::max(minimum_, shared + 1));
}

}  // namespace cachetool::store
