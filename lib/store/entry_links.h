#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pickle/value.h"
#include "torch/key.h"

namespace cachetool::store {

/// One kernel whose source a wrapper carries.
struct KernelLiteral {
  enum class Language : std::uint8_t { kCpp, kTriton, kCppWrapper };
  Language language = Language::kCpp;
  std::string name;  ///< variable that the wrapper binds it to; empty for a C++ wrapper
  std::string text;  ///< the literal, evaluated
};

/// The kernels in the text of a wrapper module, in order. What isn't understood is left out. Linear time.
/// Follows torch/_inductor/codegen/wrapper.py and codegen/triton.py: define_kernel (2.6, 2.9, 2.15).
std::vector<KernelLiteral> kernels_in_wrapper(std::string_view source_code);

/// What one entry names, before anybody looks whether it is there.
struct EntryLinks {
  std::vector<torch::HashName> graphs;          ///< FX graph keys that an AOTAutograd entry names
  std::vector<torch::HashName> wrappers;        ///< 'c…' of wrapper modules (several in bundled entries)
  std::vector<torch::HashName> triton_modules;  ///< 'c…' of Triton kernel modules
  std::vector<torch::HashName> cpp_sources;  ///< content_hash of each C++ kernel's text: see ReferenceIndex
  std::vector<std::string> triton_directories;  ///< names, from the Triton bundle
};

/// Reads the links from an entry's decoded value (any release); nothing is resolved.
EntryLinks links_of(const pickle::Value& root);

}  // namespace cachetool::store
