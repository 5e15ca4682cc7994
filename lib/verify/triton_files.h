#pragma once

#include <string>
#include <string_view>

#include "verify/file_checks.h"

namespace cachetool::verify {

/// Texts of a Triton kernel directory: each a FileCheck.

/// `<kernel>.json`: TritonMetadataFacts.
Expected<Facts> check_triton_metadata(FileInput& input, FileReport& report);
/// `__grp__<kernel>.json`: TritonGroupFacts.
Expected<Facts> check_triton_group(FileInput& input, FileReport& report);
/// `.ttir`, `.ttgir`, `.llir`, `.ptx`, `.source`: TritonTextFacts.
Expected<Facts> check_triton_text(FileInput& input, FileReport& report);
/// `<kernel>.autotune.json`.
Expected<Facts> check_triton_autotune(FileInput& input, FileReport& report);

/// The name of the directory that Triton keeps a kernel of this hash (64 hexadecimal digits) in, in the form
/// that `like` has. triton/runtime/cache.py: get_cache_manager (hexadecimal up to 3.1), _base64 (3.2),
/// _base32 (3.3 on). Empty where `like` is no such name.
std::string triton_directory_name(std::string_view hash, std::string_view like);

/// Which releases of torch bring a Triton of this version.
struct ReleaseRange;
ReleaseRange releases_of_triton(std::string_view version);

}  // namespace cachetool::verify
