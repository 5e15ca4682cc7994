#include "verify/file_checks.h"

#include "verify/entry_file.h"

namespace cachetool::verify {

FileCheck file_check_for(store::ArtifactKind kind) {
  using Kind = store::ArtifactKind;
  switch (kind) {
    case Kind::kFxGraphEntry:
    case Kind::kAotAutogradEntry:
      return check_entry_file;
    default:
      return nullptr;
    case Kind::kUnknown:
      return nullptr;
  }
}

}  // namespace cachetool::verify
