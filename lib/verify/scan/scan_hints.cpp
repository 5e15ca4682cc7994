#include "store/paths.h"
#include "verify/scan/scan_tree.h"

namespace cachetool::verify {

using store::ArtifactKind;

ScanHints hints_for(ArtifactKind kind, std::string_view path) {
  ScanHints hints;
  hints.name = store::name_of(path);
  switch (kind) {
    case ArtifactKind::kFxGraphEntry:
    case ArtifactKind::kAotAutogradEntry:
    case ArtifactKind::kPgoState:
    case ArtifactKind::kPrecompile:
    case ArtifactKind::kVllmModel:
      hints.expect = Expect::kPickle;
      break;
    case ArtifactKind::kPythonModule:
      hints.code = "module";
      break;
    case ArtifactKind::kCppSource:
    case ArtifactKind::kOptimizedSource:
    case ArtifactKind::kHeader:
      hints.code = "c++";
      break;
    case ArtifactKind::kPrecompiledHeader:
      hints.code = "precompiled-header";
      break;
    case ArtifactKind::kSharedObject:
    case ArtifactKind::kTritonLauncher:
    case ArtifactKind::kTritonDriver:
      hints.code = "shared-object";
      break;
    case ArtifactKind::kObjectFile:
      hints.code = "object";
      break;
    case ArtifactKind::kVllmIndex:      // read as a literal
    case ArtifactKind::kVllmGraphText:  // for people
    case ArtifactKind::kDebugDump:
    case ArtifactKind::kLock:
    case ArtifactKind::kLoadMarker:
    case ArtifactKind::kBuildError:
      hints.only_read = true;
      break;
    default:
      break;
  }
  return hints;
}

}  // namespace cachetool::verify
