#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "torch/entry_summary.h"

namespace cachetool::torch {

struct Decoded;

/// Which torch wrote an entry, and how that is known. Never guessed: `exact` only where the entry says it.
struct Release {
  ReleaseFamily first = ReleaseFamily::kUnknown;  ///< oldest release that has all the fields of the entry
  ReleaseFamily last =
      ReleaseFamily::kUnknown;  ///< newest such release; the same as `first` when the dialect is unique
  std::string exact;            ///< "2.9.1" or "2.9.1+cu128"; empty when unknown
  std::string evidence;         ///< one sentence: "runnable_graph_str names torch version 2.9.1+cu128"
};

/// Follows the field sets in docs/formats.md, "Telling releases apart".
Release identify_release(const Decoded& decoded);

/// "2.9.1+cu128" → k2_9; kUnknown for a release that isn't listed.
ReleaseFamily family_of_version(std::string_view version);

/// "2.9", or "unknown".
std::string_view family_name(ReleaseFamily family);
/// "2.9", "2.10-2.11", or "unknown".
std::string family_range(ReleaseFamily first, ReleaseFamily last);

/// Hash of the `torch_version` component of the entry's key; empty when it doesn't hold its key's details
/// (before 2.8).
std::string_view torch_identity(const Decoded& decoded);

}  // namespace cachetool::torch
