#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cachetool::torch {

enum class KernelKind : std::uint8_t {
  kTriton,        ///< async_compile.triton(name, text, …)
  kCppPybinding,  ///< async_compile.cpp_pybinding([types], text)
  kCpp,           ///< async_compile.cpp(text)
  kCuda,          ///< async_compile.cuda(text, …) (CUTLASS)
  kOther,         ///< any other async_compile.<method>(…)
};
std::string_view kernel_kind_name(KernelKind kind);

/// A kernel that the wrapper module defines.
struct WrapperKernel {
  KernelKind kind = KernelKind::kOther;
  std::string_view name;               ///< variable that holds it
  std::string_view method;             ///< "triton", "cpp_pybinding", …
  std::string function;                ///< triton: what the kernel's function and its files are called
  std::string text;                    ///< value of the string literal; what the kernel's file holds
  std::vector<std::string> arg_types;  ///< cpp_pybinding: "const float*", "int64_t"
  std::uint32_t line = 0;              ///< of the definition, from 1
};

/// A kernel call in the wrapper's body: `name.run(args…, stream=…)` or `name(args…)`.
struct WrapperLaunch {
  std::string_view kernel;
  std::string_view arguments;  ///< text between the parentheses without stream= and grid=
  std::string_view grid;       ///< text of grid=… (2.6), else empty
  std::uint32_t line = 0;
};

struct WrapperScan {
  std::string_view graph_label;  ///< from the "# AOT ID: ['0_inference']" line: "0_inference"; else empty
  std::vector<WrapperKernel> kernels;
  std::vector<WrapperLaunch> launches;
  bool cpp_wrapper = false;  ///< the graph itself is generated C++
};

/// Finds kernel definitions and launches in a wrapper module's text, without evaluating any of it. Linear in
/// the text.
WrapperScan scan_wrapper(std::string_view source_code);

/// The graph label alone; looks at the first lines only.
std::string_view graph_label(std::string_view source_code);

/// First operators of the graph, at most `limit`, without "aten.": from "Original ATen: […]" comments, else
/// from the calls of extern kernels and fallbacks, else what the first fused kernels are called after
/// ("amax_exp_0"). Linear; stops when it has enough.
std::vector<std::string_view> first_operators(std::string_view source_code, std::size_t limit);

}  // namespace cachetool::torch
