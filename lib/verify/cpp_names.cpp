#include "verify/cpp_names.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "store/paths.h"
#include "verify/build_paths.h"
#include "verify/compile_commands.h"
#include "verify/file_input.h"
#include "verify/source_checks.h"

namespace cachetool::verify {
namespace {

using torch::HashName;

// How many libraries are read to find out what they were built with, and how much of each.
constexpr std::size_t kMaxLibraries = 64;
constexpr std::size_t kMaxLibraryBytes = std::size_t{4} << 20;

struct Source {
  FileId id = 0;
  const CppSourceFacts* facts = nullptr;
  bool fits = false;
  std::vector<std::string> torch_headers;  ///< that its library was built with; read where nothing fits yet
};

class CppNames {
 public:
  CppNames(FileSystem& fs, const CacheFacts& cache, RelationReport& report)
      : fs_(fs), cache_(cache), inventory_(cache.inventory), report_(report) {}

  void run() {
    collect();
    if (sources_.empty()) return;
    for (const std::string& given : cache_.options.compile_commands)
      for (const std::string& command : command_variants(given)) accept_given(command);
    given_fits_ = fitting_ > 0;
    try_what_libraries_say();
    if (fitting_ < sources_.size()) collect_kernel_texts();
    for (const Source& source : sources_)
      if (!source.facts->is_isa_probe)
        ++(source.fits ? groups_[form_of(source)].fit : groups_[form_of(source)].strange);
    for (const Source& source : sources_) judge(source);
  }

 private:
  /// How many sources of one form an accepted command fits, and how many none.
  struct Group {
    std::size_t fit = 0;
    std::size_t strange = 0;
  };

  /// What a name says behind the hash: "main.cpp". torch builds each form with a command of its own.
  std::string form_of(const Source& source) const {
    const std::string_view name = inventory_.file(source.id).name;
    return std::string(name.substr(std::min(name.find('.'), name.size())));
  }

  /// The only one of its form that no command fits, though one fits others: a process with other flags would
  /// have left more of them. Not where its library tells of another torch.
  bool stands_alone(const Source& source) const {
    const auto group = groups_.find(form_of(source));
    return group != groups_.end() && group->second.fit > 0 && group->second.strange == 1 &&
           (source.torch_headers.empty() || is_built_alike(source));
  }

  static bool is_appended(std::string_view name) {
    return name.ends_with(".wrapper.cpp") || name.ends_with(".kernel.cpp");
  }

  void collect() {
    for (FileId id = 0; id < cache_.facts.size(); ++id) {
      const auto* facts = cache_.get<CppSourceFacts>(id);
      if (facts == nullptr || !facts->named_after || !inventory_.file(id).hash) continue;
      if (is_appended(inventory_.file(id).name)) {
        say_not_checkable(id, "torch appends to the sources of AOTInductor after naming them");
      } else {
        sources_.push_back({id, facts, false, {}});
      }
    }
  }

  bool fits(const Source& source, std::string_view extra) const {
    Sha256Stream stream = source.facts->named_after->fork();
    stream.update(extra);
    return torch::code_hash(std::move(stream)) == *inventory_.file(source.id).hash;
  }

  /// Marks every source that the command fits.
  void accept(std::string_view command) {
    for (Source& source : sources_) {
      if (source.fits || !fits(source, command)) continue;
      source.fits = true;
      ++fitting_;
    }
  }

  void accept_given(const std::string& command) {
    const std::size_t before = fitting_;
    accept(command);
    if (fitting_ == before) return;
    std::string paths_only = command;
    for (std::size_t at = 0; (at = paths_only.find(" -I", at)) != std::string::npos;)
      paths_only[at + 2] = ' ';
    const BuildPaths paths = find_build_paths(paths_only);
    accepted_.insert(paths.torch.begin(), paths.torch.end());
  }

  /// A command that fits the source whose library tells of it is put to all the others.
  void try_what_libraries_say() {
    std::size_t left = kMaxLibraries;
    for (Source& source : sources_) {
      if (source.fits || source.facts->is_isa_probe || left == 0) continue;
      const auto library = library_of(source.id);
      if (!library) continue;
      --left;
      BuildPaths paths = read_build_paths(*library);
      for (const std::string& command : default_commands(paths)) {
        if (!fits(source, command)) continue;
        accept(command);
        accepted_.insert(paths.torch.begin(), paths.torch.end());
        break;
      }
      source.torch_headers = std::move(paths.torch);
    }
  }

  /// Whether its library was built with headers that an accepted command names.
  bool is_built_alike(const Source& source) const {
    return std::any_of(source.torch_headers.begin(), source.torch_headers.end(),
                       [&](const std::string& path) { return accepted_.contains(path); });
  }

  std::optional<FileId> library_of(FileId source) const {
    std::string path = inventory_.path(source);
    path.replace(path.size() - 3, 3, "so");
    return inventory_.find(inventory_.root_of(source), path);
  }

  BuildPaths read_build_paths(FileId id) {
    const Inventory::Directory& place = inventory_.directory_of(id);
    const auto directory = store::open_below(fs_, inventory_.cache().roots[place.root].directory, place.path);
    if (!directory) return {};
    auto input = FileInput::open(fs_, inventory_, id, **directory, cache_.options, buffer_);
    if (!input) return {};
    const auto bytes = input->head(kMaxLibraryBytes);
    return bytes ? find_build_paths(*bytes) : BuildPaths{};
  }

  void collect_kernel_texts() {
    for (FileId id = 0; id < cache_.facts.size(); ++id) {
      const EntryFacts* entry = cache_.entry(id);
      if (entry == nullptr) continue;
      for (const GraphFacts& graph : entry->graphs)
        for (const store::CppReference& kernel : graph.links.cpp_kernels) texts_.insert(kernel.fingerprint);
    }
  }

  void judge(const Source& source) {
    if (!inventory_.file(source.id).in_scope) return;
    if (source.fits) {
      FileReport one = report_on(source.id);
      one.fine(checks::kCppSourceName);
      return report_.add(std::move(one));
    }
    if (source.facts->is_isa_probe)
      return say_not_checkable(source.id, "named after what the compiler says of its version");
    if (fitting_ == 0) {
      return say_not_checkable(source.id,
                               "no compile command fits; `--compile-command` takes one, see docs/manual.md");
    }
    const bool held = texts_.contains(source.facts->fingerprint);
    const bool same_build = given_fits_ || is_built_alike(source);
    if (!stands_alone(source) && (held || !same_build))
      return say_not_checkable(source.id, "built with another command than those that fit others");
    FileReport one = report_on(source.id);
    one.found(
        checks::kCppSourceName,
        {.message = fmt::format("its text has this name under no compile command that fits other kernels{}",
                                held ? ": changed outside of the kernel that an entry holds, or built with "
                                       "other flags than all others"
                                     : ", and no entry holds it"),
         .repair = files_of(source.id)},
        same_build ? Severity::kError : Severity::kWarning);
    report_.add(std::move(one));
  }

  /// The source and what was built from it.
  std::vector<std::string> files_of(FileId id) const {
    const Inventory::Directory& directory = inventory_.directory_of(id);
    std::vector<std::string> paths;
    for (FileId other = directory.first; other < directory.last; ++other) {
      if (inventory_.file(other).hash == inventory_.file(id).hash) paths.push_back(inventory_.path(other));
    }
    return paths;
  }

  FileReport report_on(FileId id) const { return {inventory_.root_of(id), inventory_.path(id)}; }

  void say_not_checkable(FileId id, std::string reason) {
    if (!inventory_.file(id).in_scope) return;
    FileReport one = report_on(id);
    one.not_checkable(checks::kCppSourceName, std::move(reason));
    report_.add(std::move(one));
  }

  FileSystem& fs_;
  const CacheFacts& cache_;
  const Inventory& inventory_;
  RelationReport& report_;
  std::vector<Source> sources_;
  std::size_t fitting_ = 0;
  bool given_fits_ = false;
  std::set<std::string> accepted_;       ///< torch's headers of accepted commands that were put together
  std::set<HashName> texts_;             ///< of kernels that entries hold
  std::map<std::string, Group> groups_;  ///< by form_of()
  std::string buffer_;
};

}  // namespace

void check_cpp_names(FileSystem& fs, const CacheFacts& cache, RelationReport& report) {
  CppNames(fs, cache, report).run();
}

}  // namespace cachetool::verify
