#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/source.h"

namespace cachetool::store {

/// Path of an entry below its root, e.g. "fxgraph/ab/fab…/k3…"; packed ones
/// "mega.bin!inductor/f…", with the type that torch files them under.
std::string entry_path(const CacheSet& set, const EntryRef& entry);

/// True when `text` can only be meant as a key (`key:…`), or has the form of one: base32 characters, at most
/// one '/'.
bool looks_like_key(std::string_view text);

/// Finds entries by `KEY`, `KEY/LEAF`, or prefixes of either (with or without "key:" in front). KEY alone
/// gives all its candidates. A full key costs no listing of the others: its directory follows from the key. A
/// prefix that fits no key is tried as a leaf's. Errors: kNoSuchKey; kAmbiguous with the candidates (at most
/// 20) in the hint, one per line.
Expected<std::vector<EntryRef>> lookup(Source& source, std::string_view text);

/// The places of the one key that `text` names, in full or by a prefix: one for each store that has it, also
/// when nothing in its directory is an entry. Errors: kUsage for `KEY/LEAF`; kNoSuchKey; kAmbiguous as above.
Expected<std::vector<KeyRef>> find_key(Source& source, std::string_view text);

/// Shortest prefixes that are unique within a set of keys, as git abbreviates: never under `minimum`
/// characters.
class KeyAbbreviations {
 public:
  /// `keys` need not be sorted; equal keys in several stores count as one.
  explicit KeyAbbreviations(const std::vector<KeyRef>& keys, std::size_t minimum = 8);
  /// Characters of `key.str()` to show; the full length for a key that is not in the set.
  std::size_t length(const torch::HashName& key) const;
  std::string shorten(const torch::HashName& key) const { return key.str().substr(0, length(key)); }

 private:
  std::vector<torch::HashName> sorted_;
  std::size_t minimum_;
};

}  // namespace cachetool::store
