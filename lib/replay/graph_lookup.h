#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file_system.h"
#include "replay/candidates.h"

namespace cachetool::replay {

/// What torch.utils._triton._extern_libs_key gives on the machine that looks (2.12): names and hashes of the
/// libraries that Triton links ("libdevice-9e84…"). None where there is no Triton backend.
struct ExternLibsKey {
  bool given = false;
  std::optional<std::string> key;
};

/// The key of one library file: "libdevice-" and the SHA-256 of …/libdevice.10.bc in hex. The name is the
/// file's up to its first dot. torch/utils/_triton.py: _extern_libs_key (2.12);
/// triton/backends/nvidia/compiler.py: CUDAOptions (3.9).
std::string extern_libs_key_of(std::string_view file_name, std::string_view contents);

/// Looks a graph up as torch/_inductor/codecache.py: FxGraphCache._lookup_graph does (2.6 to 2.15): the
/// candidates in turn, then, from 2.12 on, whether the one found was made with the same extern libraries; no
/// other is tried when it wasn't. An object of another class counts as raising: what torch does with it next
/// fails. Without a key of the machine's, the entry's is taken for granted and that is said.
Expected<CandidateWalk> find_graph(store::Source& source, const store::KeyRef& key, const GuardJudge& judge,
                                   const ExternLibsKey& machine, const Rules& rules,
                                   const store::ReadLimits& limits);

}  // namespace cachetool::replay
