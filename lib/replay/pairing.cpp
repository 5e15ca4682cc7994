#include "replay/pairing.h"

#include <string>
#include <vector>

namespace cachetool::replay {
namespace {

bool names_as_backward(const torch::Decoded& decoded, std::string_view key) {
  const torch::AotAutogradEntry* aot = decoded.aot_entry();
  return aot != nullptr && aot->compiled_fw && aot->compiled_bw &&
         aot->compiled_bw->fx_graph_cache_key.value_or({}) == key;
}

}  // namespace

std::optional<Pairing> find_pairing(store::Source& source, const store::KeyRef& key,
                                    const store::ReadLimits& limits) {
  store::Source& whole = source.whole();
  const std::string name = key.key.str();
  std::vector<store::Skipped> skipped;
  std::optional<Pairing> found;
  std::string buffer;
  for (const store::KeyRef& aot : whole.keys(skipped)) {
    if (aot.kind != torch::EntryKind::kAotAutograd || aot.store != key.store) continue;
    const auto listing = whole.open_key(aot);
    if (!listing) continue;
    for (const store::EntryRef& candidate : listing->entries) {
      // A key is written out in the pickle, so most entries needn't be decoded.
      const auto read = whole.read_entry(candidate, limits.max_entry_bytes, buffer);
      if (!read || buffer.find(name) == std::string::npos) continue;
      auto opened = store::open_entry(whole, candidate, limits);
      if (!opened || !names_as_backward(opened->decoded, name)) continue;
      if (found) {
        ++found->others;
      } else {
        found = Pairing{std::move(*opened), 0};
      }
    }
  }
  return found;
}

}  // namespace cachetool::replay
