#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "pickle/document.h"

namespace cachetool::pickle {

/// What bytes inside a pickle look like, by their first bytes.
enum class Payload : std::uint8_t {
  kOpaque,
  kPickle,        ///< PROTO 2 to 5
  kLegacyStream,  ///< the five pickles of torch.save before its zip form
  kTextPickle,    ///< may be a pickle of protocol 0 or 1, which has no mark of its own: counts when it parses
};
Payload payload_of(std::string_view bytes);

/// The pickles at the start of a legacy stream: magic number, protocol, system, object, storage keys.
inline constexpr std::size_t kLegacyPickles = 5;
inline constexpr std::size_t kLegacyObject = 3;

/// Where the storages lie that follow the five pickles: for every key a count of elements and then those
/// (torch/serialization.py: _legacy_load). False when they go beyond the end, or when a key has no storage in
/// `object`, the fourth pickle; `keys` is the fifth.
bool find_storages(std::string_view rest, const Document& object, const Document& keys,
                   std::vector<std::string_view>& storages);

/// True for what a legacy stream's persistent id is: ("storage", class of torch's storages, key, device,
/// number of elements, and in old streams a view of another).
bool is_storage_id(const Value& id);

}  // namespace cachetool::pickle
