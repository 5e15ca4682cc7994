#include "torch/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "container/json.h"
#include "torch/wrapper_scan.h"

namespace cachetool::torch {
namespace {

constexpr std::pair<std::string_view, std::string_view> kFormulas[] = {
    {"Grid1D", "ceil(xnumel/XBLOCK), 1, 1"},
    {"Grid2D", "ceil(xnumel/XBLOCK), ceil(ynumel/YBLOCK), 1"},
    {"Grid3D", "ceil(xnumel/XBLOCK), ceil(ynumel/YBLOCK), ceil(znumel/ZBLOCK)"},
    {"Grid2DWithYZOverflow",
     "ceil(xnumel/XBLOCK), ceil(ceil(ynumel/YBLOCK)/z), z = ceil(ceil(ynumel/YBLOCK)/65535)"},
    {"BatchMatmulGrid3D", "ceil(znumel/ZBLOCK), ceil(ynumel/YBLOCK), ceil(xnumel/XBLOCK)"},
    {"CooperativeReductionGrid", "RSPLIT, ceil(xnumel/XBLOCK), 1"},
    {"SplitScanGrid", "ceil(r0_numel/R0_BLOCK), xnumel, 1"},
    {"MixOrderReductionGrid", "ceil(xnumel/RSPLIT_SIZE), 1, 1"},
};

using Number = std::optional<std::int64_t>;

Number parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Number ceil_div(Number a, Number b) {
  if (!a || !b || *b <= 0 || *a < 0) return std::nullopt;
  return *a / *b + (*a % *b != 0 ? 1 : 0);
}

// Parts of an argument list, split at commas outside brackets.
std::vector<std::string_view> split_arguments(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    std::string_view part = text.substr(begin, i - begin);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

// The values that a grid's formula names.
class Names {
 public:
  void set(std::string_view name, Number value) { values_.emplace_back(name, value); }
  // A block size that the kernel doesn't have is 1.
  Number block(std::string_view name) const {
    const auto known = find(name);
    return known ? *known : Number(1);
  }
  Number size(std::string_view name) const {
    const auto known = find(name);
    return known ? *known : std::nullopt;
  }

 private:
  std::optional<Number> find(std::string_view name) const {
    for (const auto& [known, value] : values_) {
      if (known == name) return value;
    }
    return std::nullopt;
  }
  std::vector<std::pair<std::string_view, Number>> values_;
};

std::optional<std::array<std::int64_t, 3>> all_known(Number x, Number y, Number z) {
  if (!x || !y || !z) return std::nullopt;
  return std::array<std::int64_t, 3>{*x, *y, *z};
}

std::optional<std::array<std::int64_t, 3>> grid_value(std::string_view type, const Names& names) {
  const auto tiles = [&](std::string_view numel, std::string_view block) {
    return ceil_div(names.size(numel), names.block(block));
  };
  const Number x = tiles("xnumel", "XBLOCK");
  if (type == "Grid1D") return all_known(x, 1, 1);
  if (type == "Grid2D") return all_known(x, tiles("ynumel", "YBLOCK"), 1);
  if (type == "Grid3D") return all_known(x, tiles("ynumel", "YBLOCK"), tiles("znumel", "ZBLOCK"));
  if (type == "BatchMatmulGrid3D") {
    return all_known(tiles("znumel", "ZBLOCK"), tiles("ynumel", "YBLOCK"), x);
  }
  if (type == "Grid2DWithYZOverflow") {
    const Number raw = tiles("ynumel", "YBLOCK");
    const Number z = ceil_div(raw, 65535);
    return all_known(x, ceil_div(raw, z), z);
  }
  if (type == "CooperativeReductionGrid") return all_known(names.size("RSPLIT"), x, 1);
  if (type == "SplitScanGrid") return all_known(tiles("r0_numel", "R0_BLOCK"), names.size("xnumel"), 1);
  if (type == "MixOrderReductionGrid") return all_known(tiles("xnumel", "RSPLIT_SIZE"), 1, 1);
  return std::nullopt;
}

// Names of the arguments that a wrapper passes to run(): those of the signature that are no constexpr.
std::vector<std::string_view> argument_names(const StaticAutotuner& autotuner) {
  std::vector<std::string_view> names;
  if (!autotuner.signature) return names;
  for (std::size_t i = 0; i < autotuner.signature->size(); ++i) {
    const pickle::Pair& pair = (*autotuner.signature)[i];
    if (pickle::text_or(pair.value) != "constexpr") names.push_back(pickle::text_or(pair.key));
  }
  return names;
}

std::unordered_map<std::string_view, const StaticAutotuner*> autotuners_of(const CompiledFxGraph& graph) {
  std::unordered_map<std::string_view, const StaticAutotuner*> found;
  if (!graph.triton_bundle) return found;
  for (const StaticAutotuner& autotuner : graph.triton_bundle->static_autotuners) {
    if (autotuner.kernel_name) found.try_emplace(*autotuner.kernel_name, &autotuner);
  }
  return found;
}

// The value behind `'name': ` in a kernel's text, as far as the next comma or brace.
std::string_view meta_in_text(std::string_view text, std::string_view name) {
  const std::string quoted = "'" + std::string(name) + "': ";
  const std::size_t at = text.find(quoted);
  if (at == std::string_view::npos) return {};
  std::string_view value = text.substr(at + quoted.size());
  value = value.substr(0, value.find_first_of(",}"));
  if (value.size() >= 2 && value.front() == '\'') value = value.substr(1, value.size() - 2);
  return value;
}

// What a wrapper says of a Triton kernel that it defines.
struct TritonKernel {
  std::string_view grid_type;
  std::string_view file;  // name of its files without the ending
};

// Triton kernels by the variable that holds them; of two kernels of one name the first counts.
std::unordered_map<std::string_view, TritonKernel> triton_kernels(const std::vector<WrapperKernel>& kernels) {
  // triton/compiler/compiler.py: compile (3.9.0) cuts a kernel's name to this for its files.
  constexpr std::size_t kMaxFileName = 150;
  std::unordered_map<std::string_view, TritonKernel> found;
  std::unordered_set<std::string_view> known;
  for (const WrapperKernel& kernel : kernels) {
    if (!known.insert(kernel.name).second || kernel.kind != KernelKind::kTriton) continue;
    const auto file = std::string_view(kernel.function).substr(0, kMaxFileName);
    found.emplace(kernel.name, TritonKernel{meta_in_text(kernel.text, "grid_type"), file});
  }
  return found;
}

void add_config(KernelLaunch& launch, const StaticKernel& kernel) {
  if (kernel.config.kwargs) {
    for (std::size_t i = 0; i < kernel.config.kwargs->size(); ++i) {
      const pickle::Pair& pair = (*kernel.config.kwargs)[i];
      if (!pair.value.is(pickle::Tag::kInt)) continue;
      launch.config.emplace_back(pickle::text_or(pair.key), pair.value.as_int());
    }
  }
  if (kernel.num_warps) {
    launch.num_warps = *kernel.num_warps;
  } else if (kernel.config.num_warps) {
    launch.num_warps = *kernel.config.num_warps;
  }
  if (kernel.config.num_stages) launch.num_stages = *kernel.config.num_stages;
  if (kernel.shared) launch.shared_bytes = *kernel.shared;
}

// What the `<function>.json` that Triton left in a bundle says of a launch.
struct TritonMetadata {
  Number num_warps;
  Number num_stages;
  Number shared_bytes;
};

// For entries without static launchers: all such files, by the name of the kernel's function.
std::unordered_map<std::string_view, std::vector<TritonMetadata>> metadata_of(const CompiledFxGraph& graph) {
  constexpr std::string_view kEnding = ".json";
  std::unordered_map<std::string_view, std::vector<TritonMetadata>> found;
  if (!graph.triton_bundle) return found;
  for (const TritonKernelArtifacts& kernel : graph.triton_bundle->kernel_artifacts) {
    for (const TritonArtifact& artifact : kernel.artifacts) {
      if (!artifact.filename.ends_with(kEnding)) continue;
      const auto metadata = container::read_json(artifact.payload);
      if (!metadata) continue;
      const auto integer = [&](std::string_view key) -> Number {
        const auto value = metadata->root().find(key);
        if (!value || !value->is(container::NodeKind::kInteger)) return std::nullopt;
        return value->as_integer();
      };
      found[artifact.filename.substr(0, artifact.filename.size() - kEnding.size())].push_back(
          {integer("num_warps"), integer("num_stages"), integer("shared")});
    }
  }
  return found;
}

// A template's grid: its last three arguments are the numbers of blocks.
void add_fixed_grid(KernelLaunch& launch) {
  const auto arguments = split_arguments(launch.arguments);
  if (arguments.size() < 3) return;
  const auto last = arguments.end();
  launch.grid = fmt::format("{}, {}, {}", *(last - 3), *(last - 2), *(last - 1));
  launch.blocks = all_known(parse_number(*(last - 3)), parse_number(*(last - 2)), parse_number(*(last - 1)));
}

void add_grid(KernelLaunch& launch, const std::vector<std::string_view>& argument_names) {
  launch.grid = grid_formula(launch.grid_type);
  Names names;
  for (const auto& [name, value] : launch.config) names.set(name, value);
  const auto arguments = split_arguments(launch.arguments);
  for (std::size_t i = 0; i < std::min(arguments.size(), argument_names.size()); ++i) {
    names.set(argument_names[i], parse_number(arguments[i]));
  }
  launch.blocks = grid_value(launch.grid_type, names);
  if (launch.grid_type == "FixedGrid") add_fixed_grid(launch);
}

}  // namespace

std::string_view grid_formula(std::string_view grid_type) {
  for (const auto& [type, formula] : kFormulas) {
    if (type == grid_type) return formula;
  }
  return {};
}

std::vector<KernelLaunch> kernel_launches(const CompiledFxGraph& graph) {
  std::vector<KernelLaunch> launches;
  if (!graph.source_code) return launches;
  const WrapperScan scan = scan_wrapper(*graph.source_code);
  const auto kernels = triton_kernels(scan.kernels);
  const auto autotuners = autotuners_of(graph);
  const auto metadata = metadata_of(graph);
  for (const WrapperLaunch& call : scan.launches) {
    const auto kernel = kernels.find(call.kernel);
    KernelLaunch launch;
    launch.kernel = call.kernel;
    launch.arguments = call.arguments;
    launch.line = call.line;
    const bool triton = kernel != kernels.end();
    launch.language = triton ? "triton" : "cpp";
    if (!triton) {
      launches.push_back(std::move(launch));
      continue;
    }
    launch.grid_type = kernel->second.grid_type;
    if (launch.grid_type.empty()) launch.grid = call.grid;
    const auto found = autotuners.find(call.kernel);
    const StaticAutotuner* autotuner = found == autotuners.end() ? nullptr : found->second;
    if (autotuner == nullptr || autotuner->kernels.empty()) {
      if (!launch.grid_type.empty()) add_grid(launch, {});
      const auto known = metadata.find(kernel->second.file);
      if (known == metadata.end()) {
        launches.push_back(std::move(launch));
        continue;
      }
      for (const TritonMetadata& compiled : known->second) {
        launches.push_back(launch);
        launches.back().num_warps = compiled.num_warps;
        launches.back().num_stages = compiled.num_stages;
        launches.back().shared_bytes = compiled.shared_bytes;
      }
      continue;
    }
    for (const StaticKernel& compiled : autotuner->kernels) {
      KernelLaunch configured = launch;
      if (autotuner->grid_type) configured.grid_type = *autotuner->grid_type;
      add_config(configured, compiled);
      add_grid(configured, argument_names(*autotuner));
      launches.push_back(std::move(configured));
    }
  }
  return launches;
}

}  // namespace cachetool::torch
