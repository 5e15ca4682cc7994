#include "store/unit_path.h"

#include "store/paths.h"

namespace cachetool::store {
namespace {

std::string_view stem_of(std::string_view name) {
  return name.substr(0, name.find('.'));
}

std::string stem_path(std::string_view path) {
  return join_path(directory_of(path), stem_of(name_of(path)));
}

/// locks/<stem>.lock is for <stem[1:3]>/<stem>.* of the same store.
std::optional<UnitPlace> place_of_lock(std::string_view path) {
  const std::string_view locks = directory_of(path);
  const std::string_view stem = stem_of(name_of(path));
  const auto hash = torch::HashName::parse(stem);
  if (name_of(locks) != "locks" || !hash || hash->prefix != 'c') return std::nullopt;
  std::string place = join_path(join_path(directory_of(locks), stem.substr(1, 2)), stem);
  return UnitPlace{Unit::Kind::kCppKernel, std::move(place), true};
}

std::optional<UnitPlace> place_of_aoti(std::string_view path) {
  std::string_view directory = directory_of(path);
  while (!directory.empty()) {
    const auto hash = torch::HashName::parse(name_of(directory));
    const std::string_view above = directory_of(directory);
    const bool nested = !above.empty() && torch::HashName::parse(name_of(above)).has_value();
    if (hash && hash->prefix == 'c' && !nested) {
      return UnitPlace{Unit::Kind::kAotiDirectory, std::string(directory), false};
    }
    directory = above;
  }
  return std::nullopt;
}

}  // namespace

std::optional<UnitPlace> unit_place(const Classified& classified, std::string_view path) {
  using K = ArtifactKind;
  switch (classified.kind) {
    case K::kFxGraphEntry:
      return UnitPlace{Unit::Kind::kFxGraph, std::string(path), false};
    case K::kAotAutogradEntry:
      return UnitPlace{Unit::Kind::kAotAutograd, std::string(path), false};
    case K::kPythonModule:
    case K::kKernelPerf:
      return UnitPlace{Unit::Kind::kPythonModule, stem_path(path), false};
    case K::kCppSource:
    case K::kOptimizedSource:
    case K::kSharedObject:
    case K::kObjectFile:
    case K::kLoadMarker:
    case K::kBuildError:
    case K::kCutlass:
      if (!classified.hash) return std::nullopt;
      return UnitPlace{Unit::Kind::kCppKernel, stem_path(path), false};
    case K::kGpuBinary:
      return UnitPlace{Unit::Kind::kGpuBinary, stem_path(path), false};
    case K::kBestConfig:
      return UnitPlace{Unit::Kind::kBestConfig, std::string(path), false};
    case K::kTritonMetadata:
    case K::kTritonGroup:
    case K::kTritonIr:
    case K::kTritonSource:
    case K::kTritonBinary:
    case K::kTritonLauncher:
    case K::kTritonDriver:
    case K::kTritonAutotune:
    case K::kTritonOther:
      return UnitPlace{Unit::Kind::kTritonDirectory, std::string(directory_of(path)), false};
    case K::kAotiFile:
      return place_of_aoti(path);
    case K::kLock:
      return place_of_lock(path);
    default:
      return std::nullopt;
  }
}

}  // namespace cachetool::store
