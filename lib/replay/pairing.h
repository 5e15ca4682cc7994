#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"
#include "store/opened_entry.h"
#include "store/read_limits.h"
#include "store/source.h"

namespace cachetool::replay {

/// The AOTAutograd entry that pairs a backward graph with its forward.
struct Pairing {
  store::OpenedEntry aot;
  std::uint64_t others = 0;  ///< more entries name the same backward
};

/// The first AOTAutograd entry of the store, in the order of Source::keys, whose backward is the FX graph of
/// `key`. Reads every AOTAutograd entry of the store, decodes those whose bytes hold the key; entries that
/// can't be read are passed over. Nothing when none names it.
std::optional<Pairing> find_pairing(store::Source& source, const store::KeyRef& key,
                                    const store::ReadLimits& limits);

}  // namespace cachetool::replay
