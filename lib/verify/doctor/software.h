#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "store/environment.h"
#include "torch/entry_summary.h"

namespace cachetool::verify {

/// A Python package that was found by its files.
struct Package {
  std::string name;     ///< "torch", "triton", "vllm"; also "pytorch-triton" and the like
  std::string version;  ///< "2.9.1+cu128"
  std::string backend;  ///< of torch: "cuda 12.8", "rocm 6.4", "cpu"; else empty
  std::string path;     ///< the site-packages directory that holds it
  std::string from;     ///< how that was found: "VIRTUAL_ENV", "PATH", …
};

/// A program that torch or Triton calls.
struct Program {
  std::string use;   ///< "C++ compiler", "C compiler"
  std::string name;  ///< as it was asked for: "g++", or the value of CXX
  std::string path;  ///< where it was found; empty: nowhere
  std::string from;  ///< "CXX", "CC", "default"
};

struct Software {
  std::vector<Package> packages;  ///< in the order in which this shell's Python would find them
  std::vector<Program> programs;
};

/// Looks where Python of VIRTUAL_ENV, CONDA_PREFIX, PYTHONPATH, PATH and the user's own directory would.
/// Reads version.py and names of .dist-info directories; no interpreter is run.
Software find_software(FileSystem& fs, const store::Environment& environment);

/// The family of a version of torch: "2.9.1+cu128" is 2.9. Empty for what is older or newer than all known
/// ones.
std::optional<torch::ReleaseFamily> family_of_version(std::string_view version);

}  // namespace cachetool::verify
