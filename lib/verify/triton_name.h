#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachetool::verify {

/// The names that the directory of a compiled kernel may have, from the hash in its metadata (64 hexadecimal
/// digits): base32 in upper case (Triton 3.3 on), URL-safe base64 (3.2), both without padding, or the digits
/// themselves (up to 3.1). Empty for what is no such hash. triton/runtime/cache.py: _base32, _base64.
std::vector<std::string> triton_directory_names(std::string_view hash);

}  // namespace cachetool::verify
