#include "verify/file_checks.h"

namespace cachetool::verify {

FileCheck file_check_for(store::ArtifactKind kind) {
  using Kind = store::ArtifactKind;
  switch (kind) {
    default:
      return nullptr;
    case Kind::kUnknown:
      return nullptr;
  }
}

}  // namespace cachetool::verify
