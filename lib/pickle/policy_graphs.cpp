#include "pickle/policy_graphs.h"

#include <algorithm>

#include <fmt/format.h>

#include "pickle/policy_attributes.h"
#include "pickle/policy_rules.h"

namespace cachetool::pickle {
namespace {

constexpr std::string_view kOperations = "placeholder get_attr call_function call_method call_module output";
constexpr std::string_view kLoaders = "load_library loaded_libraries import_module";

/// A target that the graph's text repeats: names with dots, a star in front of `*args`.
bool is_target(std::string_view text) {
  while (text.starts_with('*')) text.remove_prefix(1);
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_name_character(c) || c == '.'; });
}

FieldObjection no_identifier(std::string_view what, std::string_view text) {
  return {std::string(what),
          fmt::format("holds text that isn't a name and would become code: {}", text.substr(0, 60))};
}

std::optional<FieldObjection> function_objection(const Attributes& attributes, std::string_view whole) {
  const Value* root = attributes.find("root");
  const std::string_view module = root ? text_or(*root) : std::string_view("operator");
  const std::string_view name = attributes.text("name");
  if (allowed_graph_function(module, name)) return {};
  return FieldObjection{name.empty() ? std::string(whole) : fmt::format("{}.{}", module, name),
                        "is what a stored graph calls, and no operator"};
}

std::optional<FieldObjection> operator_objection(std::string_view name) {
  constexpr std::string_view kRoot = "torch.ops.";
  const std::string_view rest = name.substr(std::min(name.size(), kRoot.size()));
  const std::string_view first = rest.substr(0, rest.find('.'));
  const bool fine = name.starts_with(kRoot) && is_target(rest) && !rest.starts_with('*') &&
                    name.find("__") == std::string_view::npos && !has_word(kLoaders, first);
  if (fine) return {};
  return FieldObjection{std::string(name.substr(0, 200)),
                        "is what a stored graph calls, and no operator of torch.ops"};
}

std::optional<FieldObjection> node_objection(const Attributes& attributes) {
  const std::string_view operation = attributes.text("op");
  if (!has_word(kOperations, operation))
    return no_identifier("the operation of a stored graph's node", operation);
  if (!is_identifier(attributes.text("name")))
    return no_identifier("the name of a stored graph's node", attributes.text("name"));
  const Value* target = attributes.find("target");
  if (operation != "call_method" || target == nullptr || !target->is(Tag::kObject)) return {};
  const std::string_view method = Attributes(target->object()).text("name");
  if (is_identifier(method) && !method.starts_with("__")) return {};
  return FieldObjection{std::string(method.substr(0, 200)), "is a method that no stored graph calls"};
}

}  // namespace

std::optional<FieldObjection> graph_objection(const ObjectNode& object) {
  if (!object.callable.is(Tag::kGlobal)) return {};
  const GlobalNode& global = object.callable.global();
  const Attributes attributes(object);
  if (global.module == "torch.fx.graph" && global.name == "CodeGen") {
    const Value* name = attributes.find("_func_name");
    if (name == nullptr || is_identifier(text_or(*name))) return {};
    return no_identifier("the function's name of a stored graph", text_or(*name));
  }
  if (global.module != "torch.fx._graph_pickler") return {};
  if (global.name == "_NodePickleData") return node_objection(attributes);
  if (global.name == "_OpStrPickleData") {
    if (is_target(attributes.text("name"))) return {};
    return no_identifier("a target of a stored graph", attributes.text("name"));
  }
  if (global.name == "_OpOverloadPickleData" || global.name == "_OpOverloadPacketPickleData") {
    return operator_objection(attributes.text("name"));
  }
  if (global.name == "_OpFunctionPickleData" || global.name == "_OpBuiltinPickleData" ||
      global.name == "_OpOperatorPickleData") {
    return function_objection(attributes, fmt::format("{}.{}", global.module, global.name));
  }
  return {};
}

}  // namespace cachetool::pickle
