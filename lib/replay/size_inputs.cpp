#include "replay/size_inputs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <variant>

#include "base/text.h"

namespace cachetool::replay {
namespace {

bool is_word(char c) {
  return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

bool is_name(std::string_view text) {
  return !text.empty() && !is_digit(text.front()) && std::all_of(text.begin(), text.end(), is_word);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

std::string_view next_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return line;
}

struct Assignment {
  std::string_view target;
  std::string_view value;
};
std::optional<Assignment> assignment(std::string_view line) {
  const std::size_t equals = line.find(" = ");
  if (equals == std::string_view::npos) return std::nullopt;
  const Assignment found{trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 3))};
  if (!is_name(found.target)) return std::nullopt;
  return found;
}

// The names before "= args".
std::vector<std::string_view> argument_names(std::string_view line) {
  line = trimmed(line);
  if (!line.ends_with("= args")) return {};
  line.remove_suffix(6);
  std::vector<std::string_view> names;
  while (!line.empty()) {
    const std::size_t comma = line.find(',');
    if (const std::string_view name = trimmed(line.substr(0, comma)); is_name(name)) names.push_back(name);
    if (comma == std::string_view::npos) break;
    line.remove_prefix(comma + 1);
  }
  return names;
}

// What the text of a wrapper says about its arguments.
struct Arguments {
  std::vector<std::string_view> names;
  std::map<std::string_view, std::string_view> symbols;  // of an argument
  std::set<std::string_view> tensors;                    // with a check of their size
  std::set<std::string_view> numbers;                    // in the benchmark
  bool benchmark = false;
};

Arguments read_arguments(std::string_view source) {
  Arguments found;
  const std::size_t call = source.find("def call(");
  if (call == std::string_view::npos) return found;
  std::string_view rest = source.substr(call);
  next_line(rest);
  while (found.names.empty() && !rest.empty()) {
    const std::string_view line = next_line(rest);
    if (!trimmed(line).empty() && !line.starts_with(' ')) return found;  // the function is over
    found.names = argument_names(line);
  }
  const std::set<std::string_view> known(found.names.begin(), found.names.end());
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    const std::string_view text = trimmed(line);
    if (!text.empty() && !line.starts_with(' ')) break;
    constexpr std::string_view kCheck = "assert_size_stride(";
    if (text.starts_with(kCheck)) {
      const std::string_view checked = text.substr(kCheck.size(), text.find(',') - kCheck.size());
      if (known.contains(checked)) found.tensors.insert(checked);
    } else if (const auto line_assignment = assignment(text);
               line_assignment && known.contains(line_assignment->value) &&
               !known.contains(line_assignment->target) && !line_assignment->target.starts_with("buf")) {
      found.symbols.try_emplace(line_assignment->value, line_assignment->target);
    }
  }
  const std::size_t benchmark = source.find("\ndef benchmark_compiled_module(");
  if (benchmark == std::string_view::npos) return found;
  rest = source.substr(benchmark + 1);
  next_line(rest);
  found.benchmark = true;
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    if (!line.starts_with(' ')) break;
    if (const auto value = assignment(trimmed(line)); value && is_number(value->value)) {
      if (known.contains(value->target)) found.numbers.insert(value->target);
    }
  }
  return found;
}

}  // namespace

bool is_unbacked(std::string_view expression) {
  for (std::size_t i = 0; i < expression.size();) {
    if (!is_word(expression[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < expression.size() && is_word(expression[end])) ++end;
    std::string_view name = expression.substr(i, end - i);
    i = end;
    if (name.starts_with("zuf")) {
      name.remove_prefix(3);
    } else if (name.starts_with('u')) {
      name.remove_prefix(1);
    } else {
      continue;
    }
    if (!name.empty() && std::all_of(name.begin(), name.end(), is_digit)) return true;
  }
  return false;
}

SizeInputs size_inputs_of_key(const torch::KeyDetails& details) {
  SizeInputs inputs;
  inputs.complete = true;
  for (const torch::KeyComponent& input : details.example_inputs()) {
    std::string_view text = input.text;
    if (!text.starts_with("('") || !text.ends_with("',)")) continue;
    text = text.substr(2, text.size() - 5);
    if (!is_unbacked(text)) inputs.expressions.emplace_back(text);
  }
  return inputs;
}

SizeInputs size_inputs_of_wrapper(std::string_view source_code) {
  SizeInputs inputs;
  const Arguments arguments = read_arguments(source_code);
  if (arguments.names.empty()) {
    inputs.reason = "the wrapper doesn't name its arguments";
    return inputs;
  }
  for (const std::string_view name : arguments.names) {
    if (const auto symbol = arguments.symbols.find(name); symbol != arguments.symbols.end()) {
      if (!is_unbacked(symbol->second)) inputs.expressions.emplace_back(symbol->second);
      continue;
    }
    const bool plain =
        arguments.benchmark ? !arguments.numbers.contains(name) : arguments.tensors.contains(name);
    if (plain) continue;
    inputs.reason = "the wrapper doesn't say which size its argument " + std::string(name) + " is";
    return inputs;
  }
  inputs.complete = true;
  return inputs;
}

SizeInputs size_inputs_of(const torch::CompiledFxGraph& graph) {
  if (graph.key_details && !graph.key_details->empty()) return size_inputs_of_key(*graph.key_details);
  if (graph.source_code) return size_inputs_of_wrapper(*graph.source_code);
  SizeInputs inputs;
  inputs.reason = "the entry has neither its key's details nor its wrapper";
  return inputs;
}

SizeInputs size_inputs_of(const torch::AotAutogradEntry& entry) {
  SizeInputs inputs;
  if (entry.runtime_metadata && entry.runtime_metadata->subclass_inputs > 0) {
    inputs.reason = "tensor subclasses among the inputs may bring sizes of their own";
    return inputs;
  }
  if (!entry.compiled_fw) {
    inputs.reason = "the entry has no forward graph";
    return inputs;
  }
  if (entry.compiled_fw->result != nullptr) {
    if (const auto* graph = std::get_if<torch::CompiledFxGraph>(entry.compiled_fw->result.get()))
      return size_inputs_of(*graph);
  }
  if (entry.compiled_fw->key_details && !entry.compiled_fw->key_details->empty())
    return size_inputs_of_key(*entry.compiled_fw->key_details);
  inputs.reason = "the entry doesn't say what its inputs are";
  return inputs;
}

}  // namespace cachetool::replay
