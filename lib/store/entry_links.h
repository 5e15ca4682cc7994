#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "torch/decode.h"
#include "torch/key.h"

namespace cachetool::store {

/// A C++ kernel as a wrapper names it.
struct CppReference {
  torch::HashName fingerprint;  ///< of its text, see source_fingerprint
  std::string name;             ///< variable that the wrapper binds it to; empty for a whole C++ wrapper
};

/// A Triton kernel module as a wrapper names it.
struct TritonReference {
  torch::HashName module;  ///< 'c…'
  std::string name;
};

/// What one compiled graph names, before anybody looks whether it is there.
struct GraphLinks {
  std::optional<torch::HashName> wrapper;       ///< 'c…' of the wrapper module
  std::vector<TritonReference> triton_modules;  ///< in the order of the wrapper, each once
  std::vector<CppReference> cpp_kernels;        ///< likewise
  std::vector<std::string> triton_directories;  ///< names, from the Triton bundle
};

/// The same of an entry. Owns everything.
struct EntryLinks {
  std::vector<torch::HashName> graphs;  ///< FX graph keys that an AOTAutograd entry names, forward first
  std::vector<GraphLinks> compiled;     ///< the graph itself; both graphs of a bundled AOTAutograd entry
};

/// Reads the links from a decoded entry of any release; nothing is resolved. Linear in the text of its
/// wrappers.
EntryLinks links_of(const torch::Decoded& decoded);

/// The links of one compiled graph.
GraphLinks links_of(const torch::CompiledFxGraph& graph);

/// What a C++ file and the literal in a wrapper have in common: the hash of the kernel's text without white
/// space at its ends. In a file, the kernel's text ends where torch appends the Python binding ("// Python
/// bindings to call"). torch/_inductor/codecache.py: CppPythonBindingsCodeCache, CppWrapperCodeCache (2.6).
torch::HashName source_fingerprint(std::string_view kernel_text);
torch::HashName file_fingerprint(std::string_view file_text);

}  // namespace cachetool::store
