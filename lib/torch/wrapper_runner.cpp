#include "torch/wrapper_runner.h"

#include <algorithm>

namespace cachetool::torch {
namespace {

constexpr std::string_view kRunner = "runner = Runner(partitions=[";

// Names in the list up to its ']': "partition_0,partition_1,".
std::size_t count_names(std::string_view list) {
  list = list.substr(0, list.find(']'));
  std::size_t count = 0;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view name = list.substr(0, comma);
    if (name.find_first_not_of(" \t\n") != std::string_view::npos) ++count;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return count;
}

}  // namespace

WrapperRunner scan_runner(std::string_view source_code) {
  WrapperRunner runner;
  // Attributes are set at the module's end, behind the texts of kernels.
  for (std::size_t at = 0; at < source_code.size();) {
    const std::size_t end = std::min(source_code.find('\n', at), source_code.size());
    const std::string_view line = source_code.substr(at, end - at);
    if (line.starts_with("recursively_apply_fns = ") || line.starts_with("def recursively_apply_fns("))
      runner.has_recursively_apply_fns = true;
    if (line.starts_with(kRunner)) runner.partitions = count_names(source_code.substr(at + kRunner.size()));
    at = end + 1;
  }
  return runner;
}

}  // namespace cachetool::torch
