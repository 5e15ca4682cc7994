#include "verify/triton_directories.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "store/classify.h"
#include "store/paths.h"
#include "verify/damage.h"
#include "verify/machine_checks.h"
#include "verify/triton_checks.h"
#include "verify/triton_files.h"

namespace cachetool::verify {
namespace {

using Family = torch::ReleaseFamily;
using Kind = store::ArtifactKind;

constexpr std::string_view kGroupPrefix = "__grp__";

// triton/runtime/cache.py: FileCacheManager.get_group. Up to 3.6 (torch 2.11) a child that is gone is left
// out of the group, which hits all the same and lacks its binary; since 3.7 the group is a miss.
constexpr std::array kBinarySince37{FamilySeverity{Family::k2_12, Family::k2_15, Severity::kWarning}};
constexpr std::array kTextUpTo36{FamilySeverity{Family::k2_4, Family::k2_11, Severity::kInfo}};

Severity severity_of_missing(Kind kind, ReleaseRange range, bool moved) {
  const bool is_text = kind == Kind::kTritonIr || kind == Kind::kTritonSource;
  const bool is_binary = kind == Kind::kTritonBinary;
  // Where the paths point elsewhere, Triton misses as it is, and Inductor loads binaries alone.
  if (moved) return is_text ? Severity::kInfo : Severity::kWarning;
  if (is_binary) return severity_for({"", "", Severity::kError, "", kBinarySince37}, range.first, range.last);
  if (is_text) return severity_for({"", "", Severity::kWarning, "", kTextUpTo36}, range.first, range.last);
  return Severity::kWarning;
}

constexpr std::size_t kMaxKernelName = 150;  // triton/compiler/compiler.py: compile

/// Without ".json".
std::string_view stem_of(std::string_view name) {
  return name.substr(0, name.size() - 5);
}

bool is_kernel_file(Kind kind) {
  return kind == Kind::kTritonMetadata || kind == Kind::kTritonIr || kind == Kind::kTritonSource ||
         kind == Kind::kTritonBinary;
}

/// Looks at the directories one after the other and keeps count of groups that were written elsewhere.
class TritonDirectories {
 public:
  TritonDirectories(const CacheFacts& cache, RelationReport& report) : cache_(cache), report_(report) {}

  void check_all() {
    for (const Inventory::Directory& directory : inventory().directories()) {
      const bool is_triton = store::is_triton_directory_name(store::name_of(directory.path));
      const std::string_view top = std::string_view(directory.path).substr(0, directory.path.find('/'));
      if (is_triton && top != "dump" && top != "override") check(directory);
    }
    report_moved();
  }

 private:
  /// Groups of one Triton cache that were written below another directory.
  struct Moved {
    std::uint64_t groups = 0;
    Family first = Family::kUnknown;
    Family last = Family::kUnknown;
  };
  using Place = std::tuple<std::uint32_t, std::string, std::string>;  // root, cache below it, old directory

  const Inventory& inventory() const { return cache_.inventory; }

  void check(const Inventory::Directory& directory) {
    const ReleaseRange range = releases_of(directory);
    bool has_kernel = false;
    std::set<std::string, std::less<>> kernels;  // that have a group
    std::set<std::string, std::less<>> children;
    for (FileId id = directory.first; id < directory.last; ++id) {
      const Inventory::File& file = inventory().file(id);
      has_kernel = has_kernel || is_kernel_file(file.kind);
      if (file.kind != Kind::kTritonGroup) continue;
      kernels.insert(file.name.substr(kGroupPrefix.size()));
      const auto* group = cache_.get<TritonGroupFacts>(id);
      if (group == nullptr) continue;
      for (const auto& child : group->children) children.insert(child.first);
      check_group(directory, id, *group, range);
    }
    if (has_kernel) judge_finished(directory, range, kernels, children);
    for (FileId id = directory.first; id < directory.last; ++id) {
      const auto* metadata = cache_.get<TritonMetadataFacts>(id);
      // What no group names nobody reads, and metadata of another directory says nothing about this one.
      if (metadata == nullptr || !children.contains(inventory().file(id).name) ||
          is_foreign(directory, *metadata))
        continue;
      judge_name(directory, id, *metadata);
      judge_architecture(directory, id, *metadata);
      judge_kernels(directory, id, *metadata);
    }
  }

  /// A kernel is looked for by its group, `__grp__<kernel>.json`.
  void judge_finished(const Inventory::Directory& directory, ReleaseRange range,
                      const std::set<std::string, std::less<>>& kernels,
                      const std::set<std::string, std::less<>>& children) {
    FileReport report(directory.root, directory.path);
    report.set_release(range.first, range.last);
    const auto has_group = [&](FileId id) {
      return inventory().file(id).kind != Kind::kTritonMetadata ||
             kernels.contains(inventory().file(id).name);
    };
    // Where a group's metadata is gone, the other one may be it, renamed: that is told as the missing child.
    const bool complete = std::all_of(children.begin(), children.end(), [&](const std::string& name) {
      return !name.ends_with(".json") ||
             inventory().find(directory.root, store::join_path(directory.path, name)).has_value();
    });
    bool finished = !kernels.empty();
    for (FileId id = directory.first; finished && complete && id < directory.last; ++id)
      finished = has_group(id);
    if (finished) {
      report.fine(checks::kTritonUnfinished);
    } else {
      report.found(checks::kTritonUnfinished,
                   {.message = "no group file, which Triton writes last: it never takes the kernel from here",
                    .repair = {directory.path}});
    }
    report_.add(std::move(report));
  }

  static bool is_foreign(const Inventory::Directory& directory, const TritonMetadataFacts& metadata) {
    const std::string_view name = store::name_of(directory.path);
    return !metadata.hash.empty() && triton_directory_name(metadata.hash, name) != name;
  }

  void judge_name(const Inventory::Directory& directory, FileId id, const TritonMetadataFacts& metadata) {
    FileReport report(directory.root, inventory().path(id));
    const std::string_view stem = stem_of(inventory().file(id).name);
    if (std::string_view(metadata.kernel).substr(0, kMaxKernelName) == stem) {
      report.fine(checks::kTritonName);
    } else {
      report.found(checks::kTritonName, {.message = fmt::format("it describes the kernel {}",
                                                                escape_for_terminal(metadata.kernel)),
                                         .repair = {directory.path}});
    }
    report_.add(std::move(report));
  }

  /// By the metadata's Triton, else by the form of the directory's name.
  ReleaseRange releases_of(const Inventory::Directory& directory) const {
    for (FileId id = directory.first; id < directory.last; ++id) {
      const auto* metadata = cache_.get<TritonMetadataFacts>(id);
      if (metadata != nullptr && metadata->first != Family::kUnknown)
        return {metadata->first, metadata->last};
    }
    return triton_releases(store::name_of(directory.path));
  }

  void check_group(const Inventory::Directory& directory, FileId id, const TritonGroupFacts& group,
                   ReleaseRange range) {
    FileReport report(directory.root, inventory().path(id));
    report.set_release(range.first, range.last);
    const std::string here(store::directory_of(directory.path));
    const std::string own_base = store::full_path(inventory().cache(), directory.root, here);
    std::string base;
    for (const auto& [child, path] : group.children) {
      if (path.empty()) continue;  // Triton's remote cache names files only
      const std::string ending = "/" + store::join_path(store::name_of(directory.path), child);
      const bool fits = path.ends_with(ending);
      std::string_view above = std::string_view(path).substr(0, path.size() - (fits ? ending.size() : 0));
      if (!fits || (!base.empty() && above != base)) {
        report.found(checks::kTritonGroupPath, {.message = fmt::format("{} is looked for at {}", child, path),
                                                .repair = {directory.path}});
        report_.add(std::move(report));
        return;
      }
      base = above;
    }
    report.fine(checks::kTritonGroupPath);
    const bool moved = !base.empty() && base != own_base;
    if (moved) {
      Moved& entry = moved_[{directory.root, here, base}];
      ++entry.groups;
      if (range.first != Family::kUnknown) {
        entry.first = entry.first == Family::kUnknown ? range.first : std::min(entry.first, range.first);
        entry.last = std::max(entry.last, range.last);
      }
    }
    check_children(directory, group, range, moved, report);
    report_.add(std::move(report));
  }

  void check_children(const Inventory::Directory& directory, const TritonGroupFacts& group,
                      ReleaseRange range, bool moved, FileReport& report) {
    std::string missing;
    Severity worst = Severity::kInfo;
    for (const auto& [child, path] : group.children) {
      const std::string place = store::join_path(directory.path, child);
      if (inventory().find(directory.root, place)) continue;
      const Kind kind =
          store::classify(store::RootRole::kTriton, store::join_path(store::name_of(directory.path), child))
              .kind;
      worst = std::max(worst, severity_of_missing(kind, range, moved));
      missing += missing.empty() ? "" : ", ";
      missing += child;
    }
    if (missing.empty()) return report.fine(checks::kTritonChildMissing);
    report.found(checks::kTritonChildMissing,
                 {.message = fmt::format("not there: {}", missing), .repair = {directory.path}}, worst);
  }

  void judge_architecture(const Inventory::Directory& directory, FileId id,
                          const TritonMetadataFacts& metadata) {
    const std::string path =
        store::join_path(directory.path, fmt::format("{}.cubin", stem_of(inventory().file(id).name)));
    const auto binary_id = inventory().find(directory.root, path);
    const auto* binary = binary_id ? cache_.get<GpuBinaryFacts>(*binary_id) : nullptr;
    if (binary == nullptr || !binary->architecture || !metadata.architecture) return;
    FileReport report(directory.root, path);
    if (*binary->architecture == *metadata.architecture) {
      report.fine(checks::kTritonArchitecture);
    } else {
      report.found(checks::kTritonArchitecture,
                   {.message = fmt::format("it is for sm_{}, the metadata is for sm_{}",
                                           *binary->architecture, *metadata.architecture),
                    .repair = {directory.path}});
    }
    report_.add(std::move(report));
  }

  /// At Depth::kDeep, and where the metadata is about this kernel at all.
  void judge_kernels(const Inventory::Directory& directory, FileId id, const TritonMetadataFacts& metadata) {
    const std::string_view stem = stem_of(inventory().file(id).name);
    if (std::string_view(metadata.kernel).substr(0, kMaxKernelName) != stem) return;
    const std::string path = store::join_path(directory.path, fmt::format("{}.cubin", stem));
    const auto binary_id = inventory().find(directory.root, path);
    const auto* binary = binary_id ? cache_.get<GpuBinaryFacts>(*binary_id) : nullptr;
    if (binary == nullptr || !binary->has_kernels) return;
    std::vector<container::CubinKernel> kernels;
    for (const GpuKernelFacts& kernel : binary->kernels) kernels.push_back({kernel.name, kernel.threads, 0});
    FileReport report(directory.root, path);
    compare_kernels(kernels, {metadata.kernel, metadata.num_warps}, {}, report, {directory.path});
    report_.add(std::move(report));
  }

  void report_moved() {
    for (const auto& [place, moved] : moved_) {
      const auto& [root, here, base] = place;
      FileReport report(root, here);
      report.set_release(moved.first, moved.last);
      std::optional<Severity> severity;
      if (inventory().cache().roots[root].role == store::RootRole::kTriton) severity = Severity::kWarning;
      report.found(
          checks::kTritonMoved,
          {.message = fmt::format("{} kernel{} written below {}, so Triton looks for the files there",
                                  moved.groups, moved.groups == 1 ? " was" : "s were", base)},
          severity);
      report_.add(std::move(report));
    }
  }

  const CacheFacts& cache_;
  RelationReport& report_;
  std::map<Place, Moved> moved_;
};

}  // namespace

void check_triton_directories(FileSystem& /*fs*/, const CacheFacts& cache, RelationReport& report) {
  TritonDirectories(cache, report).check_all();
}

}  // namespace cachetool::verify
