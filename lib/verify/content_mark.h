#pragma once

#include <cstdint>
#include <string_view>

namespace cachetool::verify {

/// Tells whether two files of one run have the same content: enough to notice damage, no proof against
/// somebody who wants two contents to look the same. Never 0. Other processes may give other numbers.
std::uint64_t content_mark(std::string_view bytes);

/// The mark of a JSON file of a Triton directory as it stands in a bundle: there, the path of the directory
/// is replaced by "[REPLACE]". `directory` is its last component. torch/_inductor/triton_bundler.py:
/// TritonBundler.collect.
std::uint64_t bundled_json_mark(std::string_view text, std::string_view directory);

}  // namespace cachetool::verify
