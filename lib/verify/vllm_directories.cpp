#include "verify/vllm_directories.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "store/classify.h"
#include "store/paths.h"
#include "verify/vllm_checks.h"

namespace cachetool::verify {
namespace {

using Kind = store::ArtifactKind;

constexpr std::string_view kIndexName = "vllm_compile_cache.py";
constexpr std::string_view kFactorsName = "cache_key_factors.json";
constexpr std::string_view kClassicCompiler = "inductor";

/// What lies in a prefix directory under an artifact's name.
struct Artifact {
  std::optional<FileId> file;      ///< binary format
  std::set<std::string> aot_keys;  ///< unpacked format: directories below aotautograd/
};

/// All that one model part has: `<hash>/rank_<r>_<d>/<prefix>/`.
struct Prefix {
  std::optional<FileId> index;
  std::optional<FileId> factors;
  std::map<std::string, Artifact> artifacts;
};

/// First of several names and how many more.
class Names {
 public:
  void add(std::string_view name) {
    if (count_++ == 0) first_ = escape_for_terminal(name);
  }
  bool empty() const { return count_ == 0; }
  std::string text() const { return count_ > 1 ? fmt::format("{} and {} more", first_, count_ - 1) : first_; }

 private:
  std::string first_;
  std::size_t count_ = 0;
};

class VllmDirectories {
 public:
  VllmDirectories(const CacheFacts& cache, RelationReport& report) : cache_(cache), report_(report) {}

  void check_all() {
    for (const Inventory::Directory& directory : inventory().directories()) collect(directory);
    for (const auto& [place, prefix] : prefixes_) check(place.first, place.second, prefix);
  }

 private:
  const Inventory& inventory() const { return cache_.inventory; }

  static bool is_prefix_directory(std::string_view path) {
    return store::is_rank_directory_name(store::name_of(store::directory_of(path)));
  }

  void collect(const Inventory::Directory& directory) {
    if (inventory().cache().roots[directory.root].role != store::RootRole::kVllm) return;
    if (is_prefix_directory(directory.path)) {
      for (FileId id = directory.first; id < directory.last; ++id)
        collect_file(prefixes_[{directory.root, directory.path}], id);
    }
    collect_unpacked(directory);
  }

  void collect_file(Prefix& prefix, FileId id) {
    const Inventory::File& file = inventory().file(id);
    if (file.name == kIndexName) prefix.index = id;
    if (file.name == kFactorsName) prefix.factors = id;
    if (file.kind == Kind::kStandaloneArtifact) prefix.artifacts[file.name].file = id;
  }

  /// A directory below one that has an artifact's name.
  void collect_unpacked(const Inventory::Directory& directory) {
    std::string_view above;
    const auto components = store::split_path(directory.path);
    for (std::size_t i = 0; i < components.size(); ++i) {
      const std::string_view name = components[i];
      const auto begin = static_cast<std::size_t>(name.data() - directory.path.data());
      above = std::string_view(directory.path).substr(0, begin == 0 ? 0 : begin - 1);
      if (!store::is_vllm_artifact_name(name) || !is_prefix_directory(above)) continue;
      Artifact& artifact = prefixes_[{directory.root, std::string(above)}].artifacts[std::string(name)];
      if (i + 2 < components.size() && components[i + 1] == "aotautograd")
        artifact.aot_keys.emplace(components[i + 2]);
      return;
    }
  }

  void check(std::uint32_t root, const std::string& place, const Prefix& prefix) {
    check_unpacked(root, place, prefix);
    if (!prefix.index) return report_unlisted(root, place, prefix, {});
    const auto* index = cache_.get<VllmIndexFacts>(*prefix.index);
    if (index == nullptr) return;  // unreadable: said already
    FileReport report(root, inventory().path(*prefix.index));
    check_handles(root, place, prefix, *index, report);
    report_.add(std::move(report));
  }

  void check_handles(std::uint32_t root, const std::string& place, const Prefix& prefix,
                     const VllmIndexFacts& index, FileReport& report) {
    Names missing;
    Names other;
    std::set<std::string> listed;
    std::string old_place;
    const std::string here = store::full_path(inventory().cache(), root, place);
    for (const VllmIndexFacts::Handle& handle : index.handles) {
      if (handle.compiler == kClassicCompiler) {
        if (!has_graph(root, place, handle.name)) missing.add(handle.name);
        continue;
      }
      listed.insert(handle.name);
      const auto found = prefix.artifacts.find(handle.name);
      // Up to 0.27 the path is opened, since 0.33 the name beside the index: both must be the artifact.
      if (found == prefix.artifacts.end() || store::name_of(handle.path) != handle.name) {
        missing.add(handle.name);
        continue;
      }
      if (!holds(found->second, handle.key)) other.add(handle.name);
      if (old_place.empty() && store::directory_of(handle.path) != here)
        old_place = store::directory_of(handle.path);
    }
    judge(report, checks::kVllmArtifactMissing, missing, "not there: {}; vLLM doesn't start", {place});
    judge(report, checks::kVllmArtifactKey, other, "{} holds another graph", {place});
    judge_moved(prefix, index, old_place, report);
    if (missing.empty()) report_unlisted(root, place, prefix, listed);
  }

  static void judge(FileReport& report, const Check& check, const Names& names,
                    fmt::format_string<std::string> form, std::vector<std::string> repair) {
    if (names.empty()) return report.fine(check);
    report.found(check, {.message = fmt::format(form, names.text()), .repair = std::move(repair)});
  }

  /// The classic adaptor looks the graph up in Inductor's cache beside the prefix directories.
  bool has_graph(std::uint32_t root, std::string_view place, const std::string& key) const {
    const auto name = torch::HashName::parse(key);
    if (!name || name->prefix != 'f') return false;
    const std::string path =
        fmt::format("{}/inductor_cache/fxgraph/{}/{}", store::directory_of(place), key.substr(1, 2), key);
    return inventory().find_directory(root, path).has_value();
  }

  /// Whether the artifact may be the one of that AOTAutograd key; true where one of the two is not known.
  bool holds(const Artifact& artifact, const std::string& key) const {
    if (key.empty()) return true;
    if (!artifact.file) return artifact.aot_keys.size() != 1 || *artifact.aot_keys.begin() == key;
    const auto* facts = cache_.get<StandaloneFacts>(*artifact.file);
    return facts == nullptr || facts->aot_key.empty() || facts->aot_key == key;
  }

  void judge_moved(const Prefix& prefix, const VllmIndexFacts& index, const std::string& old_place,
                   FileReport& report) {
    if (index.handles.empty()) return;
    // Releases that use the name alone don't list VLLM_API_KEY any more.
    const auto* factors = prefix.factors ? cache_.get<VllmFactorsFacts>(*prefix.factors) : nullptr;
    const bool uses_name = factors != nullptr && !factors->lists_api_key;
    if (old_place.empty() || uses_name) return report.fine(checks::kVllmMoved);
    report.found(checks::kVllmMoved,
                 {.message = fmt::format("its artifacts are looked for in {}; vLLM doesn't start where they "
                                         "aren't there",
                                         escape_for_terminal(old_place))});
  }

  void check_unpacked(std::uint32_t root, const std::string& place, const Prefix& prefix) {
    for (const auto& [name, artifact] : prefix.artifacts) {
      if (artifact.file) continue;
      FileReport report(root, store::join_path(place, name));
      if (artifact.aot_keys.size() == 1) {
        report.fine(checks::kVllmUnpacked);
      } else {
        report.found(checks::kVllmUnpacked,
                     {.message = fmt::format("it holds {} of them; loading it raises, and vLLM doesn't start",
                                             artifact.aot_keys.size()),
                      .repair = {place}});
      }
      report_.add(std::move(report));
    }
  }

  void report_unlisted(std::uint32_t root, const std::string& place, const Prefix& prefix,
                       const std::set<std::string>& listed) {
    Names names;
    for (const auto& [name, artifact] : prefix.artifacts)
      if (!listed.contains(name)) names.add(name);
    FileReport report(root, place);
    judge(report, checks::kVllmArtifactUnlisted, names, "no index names {}", {});
    report_.add(std::move(report));
  }

  const CacheFacts& cache_;
  RelationReport& report_;
  std::map<std::pair<std::uint32_t, std::string>, Prefix> prefixes_;
};

}  // namespace

void check_vllm_directories(FileSystem& /*fs*/, const CacheFacts& cache, RelationReport& report) {
  VllmDirectories(cache, report).check_all();
}

}  // namespace cachetool::verify
