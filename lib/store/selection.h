#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/environment.h"
#include "store/source.h"

namespace cachetool::store {

/// What an argument that names entries stands for.
struct Selection {
  std::shared_ptr<Source> source;
  std::vector<EntryRef> entries;
  /// A file that is pickled but isn't where torch puts entries (PGO state, a precompile package), below root
  /// 0.
  std::string file;
  std::vector<Skipped> skipped;
};

/// Is the argument a path rather than a key? It is when it exists, or holds a '/' other than in KEY/LEAF;
/// `key:` in front forces a key.
bool names_path(FileSystem& fs, const Environment& environment, std::string_view argument);

/// The entries at or below a path: an entry's file, a key's directory, a cache, a file that packs entries, or
/// a copy of an entry anywhere; `FILE!inductor/KEY` for one entry of a file that packs several.
Expected<Selection> select_path(FileSystem& fs, const Environment& environment, std::string_view path);

/// The entries that `KEY`, `KEY/LEAF` or a prefix names in `source`. See store::lookup.
Expected<Selection> select_key(std::shared_ptr<Source> source, std::string_view argument);

}  // namespace cachetool::store
