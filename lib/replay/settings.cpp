#include "replay/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "torch/wrapper_runner.h"

namespace cachetool::replay {
namespace {

using torch::CompiledFxGraph;

enum class Type : std::uint8_t { kSwitch, kIndexBox, kPolicy, kInteger, kOptionalInteger, kText };

struct Definition {
  KnownSetting known;
  Type type;
};

constexpr std::array kDefinitions{
    Definition{{"cudagraphs", "on|off", "the caller asks for CUDA graphs (mode=\"reduce-overhead\")"},
               Type::kSwitch},
    Definition{{"graph_partition", "on|off", "config.graph_partition (2.8 on)"}, Type::kSwitch},
    Definition{{"triton.cudagraph_trees", "on|off", "config.triton.cudagraph_trees"}, Type::kSwitch},
    Definition{{"triton.cudagraph_or_error", "on|off", "config.triton.cudagraph_or_error (2.9 on)"},
               Type::kSwitch},
    Definition{{"forward_device_index", "none|absent|N",
                "the box in which the forward leaves its device: empty, not passed, or holding a number"},
               Type::kIndexBox},
    Definition{{"cudagraph_policy", "none|wrap|no-wrap",
                "config.cudagraph_policy (2.12 on): none, or one whose should_wrap() says so"},
               Type::kPolicy},
    Definition{{"customized_partition_wrapper", "on|off",
                "set_customized_partition_wrappers was called (2.9 on; vLLM does)"},
               Type::kSwitch},
    Definition{{"compiler_bisector", "on|off", "CompilerBisector disables CUDA graphs (2.11 on)"},
               Type::kSwitch},
    Definition{{"cudagraph_manager", "on|off", "the process has run CUDA graphs on the device before"},
               Type::kSwitch},
    Definition{{"triton.cudagraph_capture_sizes", "none|(N, …)", "config.triton.cudagraph_capture_sizes"},
               Type::kText},
    Definition{{"triton.cudagraph_dynamic_shape_warn_limit", "none|N",
                "config.triton.cudagraph_dynamic_shape_warn_limit"},
               Type::kOptionalInteger},
    Definition{{"triton.cudagraph_dynamic_shape_rerecord_limit", "none|N",
                "config.triton.cudagraph_dynamic_shape_rerecord_limit (2.15)"},
               Type::kOptionalInteger},
    Definition{{"triton.cudagraph_unexpected_rerecord_limit", "N",
                "config.triton.cudagraph_unexpected_rerecord_limit"},
               Type::kInteger},
};

constexpr auto kKnown = [] {
  std::array<KnownSetting, kDefinitions.size()> known{};
  for (std::size_t i = 0; i < known.size(); ++i) known[i] = kDefinitions[i].known;
  return known;
}();

const Definition* definition_of(std::string_view name) {
  const auto found = std::find_if(kDefinitions.begin(), kDefinitions.end(),
                                  [&](const Definition& item) { return item.known.name == name; });
  return found == kDefinitions.end() ? nullptr : &*found;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::optional<bool> parse_switch(std::string_view text) {
  const std::string word = lower(text);
  if (word == "on" || word == "true" || word == "yes" || word == "1") return true;
  if (word == "off" || word == "false" || word == "no" || word == "0") return false;
  return std::nullopt;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_none(std::string_view text) {
  return lower(text) == "none";
}

std::optional<IndexBox> parse_index_box(std::string_view text) {
  if (is_none(text)) return IndexBox{};
  if (lower(text) == "absent") return IndexBox{false, std::nullopt};
  const auto number = parse_integer(text);
  if (!number || *number < 0) return std::nullopt;
  return IndexBox{true, number};
}

std::optional<CudagraphPolicy> parse_policy(std::string_view text) {
  const std::string word = lower(text);
  if (word == "none") return CudagraphPolicy::kNone;
  if (word == "wrap") return CudagraphPolicy::kWrap;
  if (word == "no-wrap") return CudagraphPolicy::kNoWrap;
  return std::nullopt;
}

bool fits(Type type, std::string_view value) {
  switch (type) {
    case Type::kSwitch:
      return parse_switch(value).has_value();
    case Type::kIndexBox:
      return parse_index_box(value).has_value();
    case Type::kPolicy:
      return parse_policy(value).has_value();
    case Type::kInteger:
      return parse_integer(value).has_value();
    case Type::kOptionalInteger:
      return is_none(value) || parse_integer(value).has_value();
    case Type::kText:
      return !value.empty();
  }
  return false;
}

std::string names_of_settings() {
  std::string names = "settings: ";
  for (const KnownSetting& known : kKnown) {
    if (&known != kKnown.data()) names += ", ";
    names += std::string(known.name) + "=" + std::string(known.values);
  }
  return names;
}

// What the entry's key says of an option of the configuration; the text is Python's repr of the value.
std::optional<std::string_view> of_key(const CompiledFxGraph& graph, std::string_view option) {
  return graph.key_details ? graph.key_details->config(option) : std::nullopt;
}

template <class T, class Parse>
Setting<T> choose(std::string_view name, const CompiledFxGraph& graph, const SettingOverrides& given,
                  T fallback, Parse parse) {
  if (const auto text = given.find(name)) {
    if (const auto value = parse(*text)) return {*value, SettingOrigin::kGiven};
  }
  if (const auto text = of_key(graph, name)) {
    if (const auto value = parse(*text)) return {*value, SettingOrigin::kKey};
  }
  return {std::move(fallback), SettingOrigin::kDefault};
}

// A bundled graph has no key of its own: only a compile with the option on stores partitions, and writes a
// wrapper in parts also where none can be captured.
Setting<bool> partition_flag(const CompiledFxGraph& graph, const SettingOverrides& given,
                             const Rules& rules) {
  Setting<bool> flag = choose("graph_partition", graph, given, rules.partition_by_default, parse_switch);
  if (flag.origin == SettingOrigin::kDefault) {
    const std::string_view source = graph.source_code.value_or({});
    const bool stored = graph.partition_maps && !graph.partition_maps->empty();
    if (stored || !source.empty())
      flag = {stored || torch::scan_runner(source).has_recursively_apply_fns, SettingOrigin::kEntry};
  }
  if (!rules.graph_partition) flag = {false, SettingOrigin::kDefault};
  return flag;
}

// Where the key isn't stored (to 2.7): a compile with trees words this reason with a count of instances.
// torch/_inductor/cudagraph_utils.py: check_for_mutation_ignore_cuda_graph_managed_tensor (2.6 to 2.15).
Setting<bool> trees_flag(const CompiledFxGraph& graph, const SettingOverrides& given) {
  constexpr std::string_view kWithoutTrees = "skipping cudagraphs due to mutated inputs";
  const Setting<bool> flag = choose("triton.cudagraph_trees", graph, given, true, parse_switch);
  const bool without = graph.disabled_cudagraphs_reason.value_or({}) == kWithoutTrees;
  return flag.origin == SettingOrigin::kDefault && without ? Setting<bool>{false, SettingOrigin::kEntry}
                                                           : flag;
}

Setting<IndexBox> index_box(const CompiledFxGraph& graph, const SettingOverrides& given, const Rules& rules) {
  if (const auto text = given.find("forward_device_index")) {
    if (const auto value = parse_index_box(*text)) return {*value, SettingOrigin::kGiven};
  }
  if (!rules.index_box_of_entry) return {IndexBox{}, SettingOrigin::kDefault};
  const torch::Field<torch::BoxedIndex>& box = graph.boxed_forward_device_index;
  return {{!box.is_none(), box.value_or(std::nullopt)}, SettingOrigin::kEntry};
}

}  // namespace

std::string_view origin_name(SettingOrigin origin) {
  switch (origin) {
    case SettingOrigin::kGiven:
      return "given";
    case SettingOrigin::kKey:
      return "key";
    case SettingOrigin::kEntry:
      return "entry";
    case SettingOrigin::kDefault:
      break;
  }
  return "default";
}

std::span<const KnownSetting> known_settings() {
  return kKnown;
}

Status SettingOverrides::add(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string_view name = assignment.substr(0, equals);
  const Definition* definition = definition_of(name == "triton.cudagraphs" ? "cudagraphs" : name);
  if (definition == nullptr)
    return fail(ErrorCode::kUsage, "'" + std::string(name) + "' is no setting of post-compile", {}, {},
                names_of_settings());
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : assignment.substr(equals + 1);
  if (!fits(definition->type, value))
    return fail(ErrorCode::kUsage, "'" + std::string(value) + "' is no value of " + std::string(name) +
                                       ": expected " + std::string(definition->known.values));
  values_[std::string(definition->known.name)] = std::string(value);
  return {};
}

std::optional<std::string_view> SettingOverrides::find(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

// The flag with which the graph was looked up. The key holds it as it was before the compile; the stored
// flag may have been switched off by the compile itself, which leaves a reason or cudagraph_info behind.
Setting<bool> caller_flag(const CompiledFxGraph& graph, const SettingOverrides& given) {
  if (const auto text = given.find("cudagraphs")) {
    if (const auto value = parse_switch(*text)) return {*value, SettingOrigin::kGiven};
  }
  if (graph.key_details) {
    const auto component = graph.key_details->find("fx_kwargs[cudagraphs]");
    if (component && component->text == "BoxedBool(value=True)") return {true, SettingOrigin::kKey};
    if (component && component->text == "BoxedBool(value=False)") return {false, SettingOrigin::kKey};
  }
  const bool stored = graph.fx_kwargs && graph.fx_kwargs->cudagraphs.value_or(false);
  const bool evaluated = graph.cudagraph_info.has_value() || graph.disabled_cudagraphs_reason.has_value();
  return {stored || evaluated, SettingOrigin::kEntry};
}

Settings settings_for(const CompiledFxGraph& graph, const SettingOverrides& given, const Rules& rules) {
  const auto optional_integer = [](std::string_view text) -> std::optional<std::optional<std::int64_t>> {
    if (is_none(text)) return std::optional<std::int64_t>();
    if (const auto number = parse_integer(text)) return number;
    return std::nullopt;
  };
  const auto optional_text = [](std::string_view text) -> std::optional<std::optional<std::string>> {
    if (is_none(text)) return std::optional<std::string>();
    return std::string(text);
  };
  Settings settings;
  settings.cudagraphs = caller_flag(graph, given);
  settings.graph_partition = partition_flag(graph, given, rules);
  settings.cudagraph_trees = trees_flag(graph, given);
  settings.cudagraph_or_error = choose("triton.cudagraph_or_error", graph, given, false, parse_switch);
  settings.forward_device_index = index_box(graph, given, rules);
  settings.cudagraph_policy = choose("cudagraph_policy", graph, given, CudagraphPolicy::kNone, parse_policy);
  settings.partition_wrapper = choose("customized_partition_wrapper", graph, given, false, parse_switch);
  settings.bisector = choose("compiler_bisector", graph, given, false, parse_switch);
  settings.cudagraph_manager = choose("cudagraph_manager", graph, given, false, parse_switch);
  settings.cudagraph_capture_sizes =
      choose("triton.cudagraph_capture_sizes", graph, given, std::optional<std::string>(), optional_text);
  settings.dynamic_shape_warn_limit =
      choose("triton.cudagraph_dynamic_shape_warn_limit", graph, given,
             std::optional<std::int64_t>(rules.dynamic_shape_warn_limit), optional_integer);
  settings.dynamic_shape_rerecord_limit = choose("triton.cudagraph_dynamic_shape_rerecord_limit", graph,
                                                 given, std::optional<std::int64_t>(), optional_integer);
  settings.unexpected_rerecord_limit =
      choose("triton.cudagraph_unexpected_rerecord_limit", graph, given, std::int64_t{128}, parse_integer);
  return settings;
}

}  // namespace cachetool::replay
