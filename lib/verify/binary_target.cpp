#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "container/elf_dynamic.h"
#include "container/x86_code.h"
#include "verify/machine_checks.h"

namespace cachetool::verify {
namespace {

std::string machine_name(std::uint16_t machine) {
  if (machine == container::kMachineX86_64) return "x86-64";
  if (machine == container::kMachineAArch64) return "aarch64";
  return fmt::format("ELF machine {}", machine);
}

/// A name from a file, for a message.
std::string shown(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  return escape_for_terminal(name.substr(0, kLongest));
}

/// torch/_inductor/cpu_vec_isa.py: `__avx_chk_kernel`, `__amx_chk_kernel`, `__avx512_vnni_chk_kernel_1`, …
bool is_isa_probe(const container::ElfDynamic& dynamic) {
  return std::any_of(dynamic.exports.begin(), dynamic.exports.end(), [](const auto& symbol) {
    return symbol.name.starts_with("__") && symbol.name.find("_chk_kernel") != std::string_view::npos;
  });
}

/// "GLIBC_" of "GLIBC_2.34".
std::string_view version_family(std::string_view version) {
  const std::size_t underscore = version.rfind('_');
  return underscore == std::string_view::npos ? std::string_view{} : version.substr(0, underscore + 1);
}

/// Judges what one shared object asks of the loader.
class LoaderJudge {
 public:
  LoaderJudge(const container::ElfDynamic& dynamic, const TargetMachine& target, FileReport& report)
      : dynamic_(dynamic),
        libraries_(*target.libraries),
        judges_system_(target.judges_system),
        report_(report) {
    if (is_isa_probe(dynamic)) severity_ = Severity::kWarning;
  }

  void run() {
    judge_libraries();
    judge_versions();
    judge_symbols();
  }

 private:
  void judge_libraries() {
    for (const std::string_view soname : dynamic_.needed) {
      const LibraryOwner owner = library_owner(soname);
      if (owner == LibraryOwner::kTorch && !libraries_.has_torch()) {
        report_.not_checkable(checks::kBinaryLibrary, "no torch is installed here, and none was named");
        continue;
      }
      const bool found = libraries_.find(soname) != nullptr;
      if (found) {
        report_.fine(checks::kBinaryLibrary);
      } else if (owner == LibraryOwner::kDriver) {
        report_.not_checkable(checks::kBinaryLibrary, "the GPU's driver isn't installed here");
      } else if (owner == LibraryOwner::kSystem && !judges_system_) {
        report_.not_checkable(checks::kBinaryLibrary, "only libraries of torch are compared");
      } else if (!dynamic_.run_path.empty()) {
        report_.not_checkable(checks::kBinaryLibrary, "the file names directories of its own to search");
      } else {
        report_.found(checks::kBinaryLibrary, {fmt::format("needs {}, which isn't there", shown(soname))},
                      severity_);
      }
    }
  }

  /// One finding per library and family of versions: the latest that is missing says it all.
  void judge_versions() {
    std::map<std::pair<std::string_view, std::string_view>, std::string_view> missing;
    for (const container::VersionNeed& need : dynamic_.version_needs) {
      const Library* library = judged(need.library);
      if (library == nullptr) continue;
      if (need.weak || library->defines_version(need.version)) {
        report_.fine(checks::kBinaryVersion);
        continue;
      }
      std::string_view& latest = missing[{need.library, version_family(need.version)}];
      if (latest.empty() || version_before(latest, need.version)) latest = need.version;
    }
    for (const auto& [place, version] : missing) {
      const Library* library = libraries_.find(place.first);
      const std::string_view newest = library->newest_version(place.second);
      const std::string has = newest.empty() ? "has no such versions" : fmt::format("ends at {}", newest);
      report_.found(checks::kBinaryVersion,
                    {fmt::format("needs {} of {}; {} {}", shown(version), shown(place.first),
                                 shown(library->path()), shown(has))},
                    severity_);
    }
  }

  void judge_symbols() {
    constexpr std::size_t kNamed = 5;
    std::vector<std::string_view> nobody;
    std::string unknown;
    for (const container::ImportedSymbol& symbol : dynamic_.imports) {
      if (symbol.weak) continue;
      if (!symbol.version.empty()) {
        const Library* library = judged(symbol.library);
        if (library == nullptr || !library->defines_version(symbol.version)) continue;  // said already
        if (library->defines(symbol.name, symbol.version)) {
          report_.fine(checks::kBinarySymbol);
          continue;
        }
      }
      auto resolution = libraries_.resolve(dynamic_.needed, symbol.name, symbol.version);
      switch (resolution.answer) {
        case Libraries::Answer::kDefined:
          report_.fine(checks::kBinarySymbol);
          break;
        case Libraries::Answer::kNobody:
          nobody.push_back(symbol.name);
          break;
        case Libraries::Answer::kUnknown:
          unknown = std::move(resolution.missing);
          break;
      }
    }
    if (!unknown.empty())
      report_.not_checkable(checks::kBinarySymbol, fmt::format("{} wasn't found", shown(unknown)));
    if (nobody.empty()) return;
    const std::size_t named = std::min(nobody.size(), kNamed);
    std::vector<std::string> first;
    for (std::size_t i = 0; i < named; ++i) first.push_back(shown(nobody[i]));
    const std::string more =
        nobody.size() > named ? fmt::format(" and {} more", nobody.size() - named) : std::string();
    report_.found(checks::kBinarySymbol,
                  {fmt::format("no library defines {}{}", fmt::join(first, ", "), more)}, severity_);
  }

  /// The library when it is there and belongs to what is judged.
  const Library* judged(std::string_view soname) {
    if (library_owner(soname) != LibraryOwner::kTorch && !judges_system_) return nullptr;
    return libraries_.find(soname);
  }

  const container::ElfDynamic& dynamic_;
  Libraries& libraries_;
  bool judges_system_;
  FileReport& report_;
  std::optional<Severity> severity_;
};

void judge_processor(std::string_view bytes, const container::ElfDynamic& dynamic, const TargetCpu& cpu,
                     FileReport& report) {
  if (is_isa_probe(dynamic)) return;
  if (!cpu.features) return report.not_checkable(checks::kBinaryProcessor, "what it can isn't known");
  const auto code = container::read_x86_code(bytes);
  if (!code) return report.not_checkable(checks::kBinaryProcessor, code.error().message);
  const CpuFeatures missing = code->needs.without(*cpu.features);
  if (missing.empty()) return report.fine(checks::kBinaryProcessor);
  if (code->asks_processor || dynamic.chooses_at_load) {
    return report.not_checkable(checks::kBinaryProcessor,
                                "the file chooses its code by the processor it meets");
  }
  const auto first = std::find_if(code->uses.begin(), code->uses.end(),
                                  [&](const auto& use) { return missing.has(use.feature); });
  const std::string where =
      first->function.empty() ? std::string() : fmt::format("; first in {}", shown(first->function));
  report.found(checks::kBinaryProcessor,
               {fmt::format("needs {}, which {} lacks{}", fmt::join(missing.names(), ", "), cpu.name, where),
                first->offset});
}

}  // namespace

void judge_shared_object(std::string_view bytes, const TargetMachine& target, FileReport& report) {
  const auto elf = container::read_elf(bytes);
  if (!elf || !elf->whole) return;
  const std::uint16_t wanted = target.cpu ? target.cpu->elf_machine : elf->header.machine;
  if (elf->header.machine != wanted) {
    report.found(
        checks::kBinaryMachine,
        {fmt::format("is for {}, not for {}", machine_name(elf->header.machine), machine_name(wanted)), 18});
    return;
  }
  if (target.cpu) report.fine(checks::kBinaryMachine);
  const auto dynamic = container::read_elf_dynamic(bytes);
  if (!dynamic) {
    if (target.cpu) report.not_checkable(checks::kBinaryProcessor, dynamic.error().message);
    if (target.libraries) report.not_checkable(checks::kBinarySymbol, dynamic.error().message);
    return;
  }
  if (target.cpu && elf->header.machine == container::kMachineX86_64)
    judge_processor(bytes, *dynamic, *target.cpu, report);
  if (target.libraries) LoaderJudge(*dynamic, target, report).run();
}

void judge_python_tag(std::string_view name, const TargetMachine& target, FileReport& report) {
  constexpr std::string_view kMark = ".cpython-";
  constexpr std::string_view kSuffix = ".so";
  const std::size_t at = name.find(kMark);
  if (at == std::string_view::npos || !name.ends_with(kSuffix)) return;
  if (target.python_tag.empty()) return;
  const std::string_view tag = name.substr(at + 1, name.size() - at - 1 - kSuffix.size());
  if (tag == target.python_tag) return report.fine(checks::kLauncherPython);
  report.found(checks::kLauncherPython,
               {fmt::format("is for {}; the Python of torch here is {}", shown(tag), target.python_tag)});
}

}  // namespace cachetool::verify
