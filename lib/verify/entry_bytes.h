#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "store/read_limits.h"
#include "torch/entry_summary.h"
#include "torch/key.h"
#include "verify/entry_deep.h"
#include "verify/facts.h"
#include "verify/file_report.h"

namespace cachetool::verify {

/// Where the bytes of an entry stand, and what that place says of them.
struct EntryPlace {
  torch::EntryKind kind = torch::EntryKind::kFxGraph;
  std::optional<torch::HashName> key = {};  ///< the directory's name, or the key that a packing file gives it
  std::string_view leaf = {};               ///< the file's name; empty for an entry inside another file
  std::uint64_t offset = 0;                 ///< of the bytes in their file
};

/// Looks at one pickled FX graph or AOTAutograd entry, in a file of its own or packed in another: structure,
/// class, fields, key, name; tells `report` and returns what relations need to know. Null where the entry is
/// too damaged to say anything. One finding for each cause: what is torn is not also called misnamed. Errors:
/// kLimit… when the limits don't let it be decoded.
Expected<std::unique_ptr<EntryFacts>> check_entry_bytes(std::string_view bytes, const EntryPlace& place,
                                                        const store::ReadLimits& limits, FileReport& report,
                                                        const EntryScrutiny& scrutiny = {});

}  // namespace cachetool::verify
