#include "verify/damage.h"

#include <array>
#include <utility>

#include "store/classify.h"
#include "store/paths.h"
#include "verify/best_config_file.h"

namespace cachetool::verify {
namespace {

using Family = torch::ReleaseFamily;
using Kind = store::ArtifactKind;

// triton/runtime/cache.py: FileCacheManager.get_group reads the JSON in a `try` since 3.7 (torch 2.12).
constexpr std::array kGroupSince37{FamilySeverity{Family::k2_12, Family::k2_15, Severity::kWarning}};
// triton/runtime/build.py: compile_module_from_src builds a module that can't be loaded anew since 3.4 (torch
// 2.8).
constexpr std::array kModuleSince34{FamilySeverity{Family::k2_8, Family::k2_15, Severity::kWarning}};

// torch/_inductor/remote_cache.py: LocalCache._get lets a document that is no JSON pass since 2.13.
constexpr std::array kBestConfigSince213{FamilySeverity{Family::k2_13, Family::k2_15, Severity::kWarning}};

Severity by_family(std::span<const FamilySeverity> rules, const FileInput& input) {
  const ReleaseRange range = triton_releases(store::name_of(input.inventory().directory_of(input.id()).path));
  return severity_for({"", "", Severity::kError, "", rules}, range.first, range.last);
}

/// The file itself, where torch makes it anew when it isn't there.
std::vector<std::string> this_file(const FileInput& input) {
  const auto& inventory = input.inventory();
  if (inventory.cache().roots[inventory.root_of(input.id())].role == store::RootRole::kSingleFile) return {};
  return {input.path()};
}

/// A library and the marker that says it was loaded once: with the marker alone torch builds the library and
/// doesn't try it (cpu_vec_isa.py: VecISA.check_build, 2.14).
std::vector<std::string> library_files(const FileInput& input) {
  std::vector<std::string> files = this_file(input);
  if (files.empty()) return files;
  std::string marker = files.front() + ".load_ok";
  if (input.inventory().find(input.inventory().root_of(input.id()), marker))
    files.push_back(std::move(marker));
  return files;
}

}  // namespace

ReleaseRange triton_releases(std::string_view directory) {
  if (store::is_hex(directory, 64)) return {Family::k2_4, Family::k2_5};
  if (!store::is_triton_directory_name(directory)) return {};
  if (directory.size() == 43) return {Family::k2_6, Family::k2_6};
  return {Family::k2_7, Family::k2_15};
}

std::vector<std::string> whole_directory(const FileInput& input) {
  const Inventory::Directory& directory = input.inventory().directory_of(input.id());
  const std::string_view name = store::name_of(directory.path);
  if (store::is_triton_directory_name(name)) return {directory.path};
  switch (input.kind()) {
    case Kind::kVllmIndex:
    case Kind::kVllmFactors:
    case Kind::kStandaloneArtifact:
      // An index names the artifacts beside it: they go together or vLLM doesn't start.
      if (store::is_rank_directory_name(store::name_of(store::directory_of(directory.path))))
        return {directory.path};
      return {};
    default:
      return {};
  }
}

Loss loss_of(const FileInput& input) {
  switch (input.kind()) {
    case Kind::kSharedObject:
      return {Severity::kError, "torch loads a library that is there, so the compile fails, each time",
              library_files(input)};
    case Kind::kObjectFile:
      return {Severity::kWarning, "torch links what is there once the library beside it is gone",
              this_file(input)};
    case Kind::kGpuBinary:
      return {Severity::kError, "the C++ wrapper that loads it fails", {}};
    case Kind::kPrecompiledHeader:
      return {Severity::kWarning, "the compiler reads the header itself, which takes longer",
              this_file(input)};
    case Kind::kTritonMetadata:
      return {Severity::kError, "Triton raises as soon as it looks for this kernel", whole_directory(input)};
    case Kind::kTritonBinary:
      return {Severity::kError, "Triton takes the kernel from here, and loading it fails",
              whole_directory(input)};
    case Kind::kTritonIr:
    case Kind::kTritonSource:
      return {Severity::kInfo, "no run depends on this text", whole_directory(input)};
    case Kind::kTritonGroup:
      return {by_family(kGroupSince37, input), "Triton raises up to 3.6 and compiles again since 3.7",
              whole_directory(input)};
    case Kind::kTritonLauncher:
    case Kind::kTritonDriver:
      return {by_family(kModuleSince34, input), "Triton fails up to 3.3 and builds it again since 3.4",
              whole_directory(input)};
    case Kind::kTritonAutotune:
      return {Severity::kError, "Triton raises instead of tuning again", whole_directory(input)};
    case Kind::kBenchmarkCache:
      return {Severity::kError, "torch raises when it looks for a measured time", this_file(input)};
    case Kind::kBestConfig: {
      const ReleaseRange range = best_config_releases(input);
      return {severity_for({"", "", Severity::kError, "", kBestConfigSince213}, range.first, range.last),
              "torch raises up to 2.12 and tunes again since 2.13", this_file(input)};
    }
    case Kind::kMemoizer:
      return {Severity::kWarning, "torch goes on as if nothing were remembered", this_file(input)};
    case Kind::kEagerAoti:
      return {Severity::kWarning, "torch logs an exception and compiles the operators again", {}};
    case Kind::kMegaCache:
      return {Severity::kWarning, "torch.compiler.load_cache_artifacts warns and loads nothing of it", {}};
    case Kind::kStandaloneArtifact:
      return {Severity::kError, "loading it raises; vLLM doesn't start", whole_directory(input)};
    case Kind::kAotiPackage:
      return {Severity::kError, "torch can't load the package", {}};
    case Kind::kAotiFile:
      return {Severity::kError, "the compiled model can't be loaded or packaged", {}};
    case Kind::kVllmIndex:
      return {Severity::kError, "vLLM doesn't start", whole_directory(input)};
    case Kind::kVllmFactors:
      return {
          Severity::kInfo, "vLLM doesn't read it back: only what the directory stands for can't be told", {}};
    case Kind::kVllmModel:
      return {Severity::kWarning, "vLLM warns, compiles again and replaces it", this_file(input)};
    default:
      return {Severity::kWarning, "what it holds is lost", {}};
  }
}

void report_damage(const FileInput& input, FileReport& report, const Check& check, std::string message,
                   std::optional<std::uint64_t> offset) {
  Loss loss = loss_of(input);
  message += "; ";
  message += loss.outcome;
  report.found(check, {.message = std::move(message), .offset = offset, .repair = std::move(loss.repair)},
               loss.severity);
}

}  // namespace cachetool::verify
