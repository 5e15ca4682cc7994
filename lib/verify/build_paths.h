#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachetool::verify {

/// Directories of headers that a library was built with, as far as its bytes tell (debug information since
/// torch 2.13, texts of assertions before).
struct BuildPaths {
  std::vector<std::string> torch;   ///< "/opt/env/lib/python3.11/site-packages/torch/include"
  std::vector<std::string> python;  ///< "/usr/local/include/python3.11"
};

/// Finds them by the form of the paths. At most a few of each; linear in the bytes.
BuildPaths find_build_paths(std::string_view library);

}  // namespace cachetool::verify
