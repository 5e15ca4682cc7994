#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>

#include "store/paths.h"
#include "verify/references.h"
#include "verify/triton_name.h"

namespace cachetool::verify {
namespace {

// Triton cuts a kernel's name there in the names of its files. triton/compiler/compiler.py: compile.
constexpr std::size_t kMaxNameBytes = 150;
// From 2.14 on (Triton 3.8) a group whose file is gone counts as absent and the kernel is compiled again;
// before, Triton goes on without the file. triton/runtime/cache.py: FileCacheManager.get_group.
constexpr auto kFirstStrictGroup = torch::ReleaseFamily::k2_14;

bool is_binary(std::string_view file) {
  for (const std::string_view ending : {".cubin", ".hsaco", ".spv", ".zebin"})
    if (file.ends_with(ending)) return true;
  return false;
}

std::string_view stem_of(std::string_view file) {
  return file.substr(0, file.rfind('.'));
}

/// What a graph's bundle holds. Refers to the facts.
struct BundleNames {
  std::unordered_set<std::string_view> kernels;      ///< as their files are called
  std::unordered_set<std::string_view> directories;  ///< that hold a binary

  explicit BundleNames(const GraphFacts& graph) {
    for (const BundledKernelFacts& kernel : graph.bundle) {
      for (const std::string& file : kernel.files) {
        kernels.insert(stem_of(file));
        if (is_binary(file)) directories.insert(kernel.directory);
      }
    }
  }
};

class TritonRelation {
 public:
  explicit TritonRelation(const ReferenceContext& context) : context_(context) {}

  void check(FileId id, const EntryFacts& entry) {
    FileReport report = report_on_entry(context_, id);
    std::vector<std::string> missing;
    std::vector<std::string> absent;
    bool hidden = false;
    for (const GraphFacts& graph : entry.graphs) {
      const BundleNames bundle(graph);
      for (const BundledKernelFacts& kernel : graph.bundle) hidden = compare(id, entry, kernel) || hidden;
      for (const store::TritonReference& kernel : graph.links.triton_modules)
        if (!is_held(bundle, kernel) && missing_.insert(kernel.module).second) missing.push_back(kernel.name);
      for (const StaticKernelFacts& kernel : graph.static_kernels)
        if (!has_binary(bundle, kernel) && absent_.insert(kernel.hash).second)
          absent.push_back(kernel.autotuner);
    }
    absent.erase(std::unique(absent.begin(), absent.end()),
                 absent.end());  // those of one autotuner are neighbours
    tell(report, checks::kTritonKernelMissing, entry, missing,
         "uses " + name_some(missing) +
             ", compiled neither in the entry's bundle nor in Triton's directories");
    // Binaries in a directory that hides the bundle's copy are told of there.
    if (absent.empty() || !hidden)
      tell(report, checks::kStaticKernelMissing, entry, absent,
           "binaries for " + name_some(absent) + " are neither in its bundle nor in Triton's directories");
    context_.report.add(std::move(report));
  }

 private:
  static void tell(FileReport& report, const Check& check, const EntryFacts& entry,
                   const std::vector<std::string>& names, const std::string& message) {
    const bool has_kernels =
        std::any_of(entry.graphs.begin(), entry.graphs.end(),
                    [](const GraphFacts& graph) { return !graph.links.triton_modules.empty(); });
    if (!names.empty()) {
      report.found(check, {message});
    } else if (has_kernels) {
      report.fine(check);
    }
  }

  /// Compares each directory of that name with what the bundle would write there; true when one lacks
  /// something. torch/_inductor/triton_bundler.py: TritonBundler.read_and_emit.
  bool compare(FileId id, const EntryFacts& entry, const BundledKernelFacts& kernel) {
    bool hides = false;
    for (const DirectoryId directory : context_.index.triton_directories(kernel.directory)) {
      std::vector<std::string> lacking;
      std::vector<std::string> differing;
      for (std::size_t i = 0; i < kernel.files.size(); ++i) {
        const auto file = find(directory, kernel.files[i]);
        if (!file) {
          lacking.push_back(kernel.files[i]);
        } else if (differs(*file, kernel, i)) {
          differing.push_back(kernel.files[i]);
        }
      }
      hides = hides || !lacking.empty();
      if (!told_.insert(directory).second) continue;
      const Inventory::Directory& place = context_.inventory().directory(directory);
      FileReport report(place.root, place.path);
      report.set_key(entry_name(context_.inventory(), id));
      if (lacking.empty()) {
        report.fine(checks::kTritonHidesBundle);
        compare_contents(report, differing);
      } else {
        report.found(checks::kTritonHidesBundle,
                     {.message = "lacks " + name_some(lacking) +
                                 ", which the entry carries; torch writes only into "
                                 "a directory that is empty or absent",
                      .repair = {place.path}},
                     cost_of(directory, lacking, entry.first));
      }
      context_.report.add(std::move(report));
    }
    return hides;
  }

  /// What a lacking file comes to when Triton meets the directory. triton/compiler/compiler.py: compile,
  /// CompiledKernel.
  Severity cost_of(DirectoryId directory, const std::vector<std::string>& lacking,
                   torch::ReleaseFamily oldest) const {
    const bool strict = oldest >= kFirstStrictGroup;
    Severity cost = strict ? Severity::kWarning : Severity::kInfo;
    for (const std::string& file : lacking) {
      if (file.ends_with(".json")) return Severity::kWarning;  // no metadata or group: compiled again
      if (is_binary(file) && !strict && holds(directory, "__grp__" + std::string(stem_of(file)) + ".json"))
        cost = Severity::kError;  // the group is used without it, and CompiledKernel raises a KeyError
    }
    return cost;
  }

  /// torch takes the binary and its metadata from the directory; the other files are for people and for
  /// Triton's own use when it compiles again. Their first stage holds the module's path: where it differs
  /// too, the kernel was most likely compiled here, apart from the entry.
  static void compare_contents(FileReport& report, const std::vector<std::string>& differing) {
    if (differing.empty()) return report.fine(checks::kTritonDiffersFromBundle);
    const bool is_run = std::any_of(differing.begin(), differing.end(), [](const std::string& file) {
      return is_binary(file) || (file.ends_with(".json") && !file.starts_with("__grp__"));
    });
    const bool compiled_apart =
        differing.size() > 1 && std::any_of(differing.begin(), differing.end(), [](const std::string& file) {
          return file.ends_with(".ttir") || file.ends_with(".source");
        });
    Severity severity = Severity::kInfo;
    if (is_run) severity = compiled_apart ? Severity::kWarning : Severity::kError;
    report.found(checks::kTritonDiffersFromBundle,
                 {.message = name_some(differing) + " isn't what the entry carries under that name",
                  .repair = {report.path()}},
                 severity);
  }

  bool differs(FileId file, const BundledKernelFacts& kernel, std::size_t i) const {
    if (file >= context_.cache.contents.size() || i >= kernel.contents.size()) return false;
    const std::uint64_t content = context_.cache.contents[file];
    return content != 0 && content != kernel.contents[i];
  }

  std::optional<FileId> find(DirectoryId directory, std::string_view file) const {
    const Inventory::Directory& place = context_.inventory().directory(directory);
    return context_.inventory().find(place.root, store::join_path(place.path, file));
  }
  bool holds(DirectoryId directory, std::string_view file) const { return find(directory, file).has_value(); }

  /// Whether a compiled form of the kernel is in the bundle or on disk.
  bool is_held(const BundleNames& bundle, const store::TritonReference& kernel) const {
    return !context_.index.directories_of_module(kernel.module).empty() ||
           bundle.kernels.contains(std::string_view(kernel.name).substr(0, kMaxNameBytes));
  }

  /// torch/_inductor/runtime/triton_heuristics.py: StaticTritonCompileResult.reload_cubin_path (2.9).
  bool has_binary(const BundleNames& bundle, const StaticKernelFacts& kernel) const {
    if (kernel.has_binary) return true;
    for (const std::string& name : triton_directory_names(kernel.hash)) {
      if (bundle.directories.contains(name)) return true;
      for (const DirectoryId directory : context_.index.triton_directories(name)) {
        const Inventory::Directory& place = context_.inventory().directory(directory);
        for (FileId file = place.first; file < place.last; ++file)
          if (is_binary(context_.inventory().file(file).name)) return true;
      }
    }
    return false;
  }

  const ReferenceContext& context_;
  std::unordered_set<DirectoryId> told_;
  std::set<torch::HashName> missing_;       // modules whose kernels are nowhere, told of an entry
  std::unordered_set<std::string> absent_;  // hashes of kernels whose binaries are nowhere, likewise
};

}  // namespace

void check_triton_kernels(const ReferenceContext& context) {
  TritonRelation relation(context);
  for (const FileId id : entries_to_judge(context)) relation.check(id, *context.cache.entry(id));
}

}  // namespace cachetool::verify
