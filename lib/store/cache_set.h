#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "store/artifact.h"
#include "store/environment.h"

namespace cachetool::store {

/// What a directory tree is used for. Recognised by content, never by its own name.
enum class RootRole : std::uint8_t {
  kInductor,            ///< torchinductor cache directory; an unpacked standalone artifact looks the same
  kTriton,              ///< plain Triton cache: one directory per kernel
  kVllm,                ///< vLLM's cache root, or any level of it down to one prefix directory
  kPrecompiledHeaders,  ///< precompiled_headers/ of the default root, used by every custom root
  kBenchmarkCache,      ///< cache/ of the default root, likewise
  kSingleFile,  ///< the directory around one file that is not part of a cache (mega-cache, .pt2, a copied
                ///< entry)
};

/// "inductor", "triton", "vllm", "precompiled-headers", "benchmark-cache", "file".
std::string_view role_name(RootRole role);

/// A directory tree that may be read. Resolved once (its own path may be a link); below it nothing is
/// followed.
struct Root {
  RootRole role = RootRole::kInductor;
  std::string path;  ///< absolute
  DirHandle directory;
  bool companion = false;  ///< torch keeps it outside the root that was asked for; walked only when asked
};

/// Where entries lie: a directory with fxgraph/ and aotautograd/ in it. The root itself, or a nested one
/// (vLLM's inductor_cache and unpacked artifacts, torch's fresh `tmp…` directories); or a file that packs
/// entries.
struct EntryStore {
  std::uint32_t root = 0;
  std::string path;  ///< below the root; empty for the root itself
  /// kUnknown for a directory. Else `path` is one file and this its kind: a loose entry, a mega-cache or a
  /// standalone artifact (vLLM's artifact files too), whose members are the entries.
  ArtifactKind file_kind = ArtifactKind::kUnknown;
  bool is_file() const { return file_kind != ArtifactKind::kUnknown; }
};

/// How the set was found, for messages.
enum class CacheOrigin : std::uint8_t { kArgument, kEnvironment, kDefault };

/// The resolved trees of one cache. Cheap to copy (handles are shared).
struct CacheSet {
  std::vector<Root> roots;  ///< roots[0] is what was asked for; disjoint trees
  std::vector<EntryStore> stores;
  CacheOrigin origin = CacheOrigin::kArgument;
  std::string scope;  ///< below roots[0]: what the user pointed at inside the cache; empty for all of it
  bool scope_is_file = false;
  ArtifactKind single_file_kind = ArtifactKind::kUnknown;  ///< kSingleFile only: what its content is
  /// TRITON_CACHE_DIR, absolute, where it is set for this cache: not for one that an argument names, which
  /// other processes may use.
  std::optional<std::string> triton_directory;
  std::vector<Skipped> unsearched;  ///< places where more stores may lie and that couldn't be listed
};

/// Resolves what a user names to a cache. `path` empty: TORCHINDUCTOR_CACHE_DIR (plus TRITON_CACHE_DIR where
/// set), else torch's default for this user. A path inside a cache (fxgraph/, a key's directory, one file)
/// gives the cache around it with `scope` set; a file outside any cache gives kSingleFile when its content is
/// something known. An empty directory is an empty cache. Errors: kNotFound, kPermission, kNotACache (says
/// what was looked for).
Expected<CacheSet> resolve_cache(FileSystem& fs, const Environment& environment,
                                 std::optional<std::string_view> path);

/// The role that a directory's content speaks for; empty when nothing in it does. An empty directory has
/// none.
Expected<std::optional<RootRole>> recognise_root(FileSystem& fs, const Directory& directory);

/// `<root path>/<path>`, for messages and reports.
std::string full_path(const CacheSet& set, std::uint32_t root, std::string_view path);

/// A path that a user gave, as (root, path below it); empty when it lies in none of the set's roots.
struct Location {
  std::uint32_t root = 0;
  std::string path;
};
std::optional<Location> locate(const CacheSet& set, const Environment& environment, std::string_view path);

}  // namespace cachetool::store
