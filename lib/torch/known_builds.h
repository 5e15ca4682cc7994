#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cachetool::torch {

/// A torch build whose torch_key was worked out from its wheel for Linux (docs/formats.md, "Telling releases
/// apart"). Another CUDA version of the same release is another build.
struct KnownBuild {
  std::string_view version;    ///< "2.9.1+cu128"
  std::string_view torch_key;  ///< 32 bytes in hex. torch/_inductor/codecache.py: torch_key
  std::string_view identity;   ///< identity_of_torch_key of it: the hash of a key's torch_version component
};

/// Oldest release first.
std::span<const KnownBuild> known_builds();

/// Version of the torch build whose `torch_version` key component has this hash (51 characters); empty when
/// unknown.
std::string_view release_of_identity(std::string_view component_hash);

/// The component hash of a torch_key (32 bytes): B(pickle of it, protocol 4).
std::string identity_of_torch_key(std::string_view torch_key);

}  // namespace cachetool::torch
