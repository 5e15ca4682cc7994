#include "replay/wrapper/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "replay/wrapper/token_stream.h"

namespace cachetool::replay::wrapper {
namespace {

// Functions of the tail, which torch only calls when the module is run as a program.
constexpr std::array<std::string_view, 2> kTail{"get_args", "benchmark_compiled_module"};
constexpr std::string_view kCompiler = "torch._inductor.async_compile.AsyncCompile";

class ModuleReader {
 public:
  explicit ModuleReader(Module& module) : module_(module), tree_(module.tree) {}

  Status read() {
    for (const StatementId id : tree_.body) {
      if (auto done = statement(id); !done) return done;
    }
    return {};
  }

 private:
  Status statement(StatementId id) {
    const Statement& statement = tree_.statement(id);
    if (const auto* import = std::get_if<ImportStmt>(&statement.value)) return take_import(*import);
    if (const auto* assign = std::get_if<AssignStmt>(&statement.value))
      return take_assignment(*assign, statement.at);
    if (const auto* function = std::get_if<FunctionStmt>(&statement.value))
      return take_function(*function, id);
    if (const auto* runner = std::get_if<ClassStmt>(&statement.value))
      return take_class(*runner, statement.at);
    if (const auto* call = std::get_if<ExpressionStmt>(&statement.value))
      return expression(*call, statement.at);
    if (const auto* condition = std::get_if<IfStmt>(&statement.value); condition && is_main(*condition))
      return {};
    if (std::holds_alternative<DeleteStmt>(statement.value)) return {};
    return outside(statement.at);
  }

  static tl::unexpected<Error> outside(Position at) {
    return TokenStream::unsupported("a statement that no wrapper module has", at);
  }

  Status take_import(const ImportStmt& import) {
    module_.imports.push_back(import);
    const bool whole =
        import.name.empty() && import.alias == import.module.substr(0, import.module.find('.'));
    std::string target(whole ? import.alias : import.module);
    if (!import.name.empty()) target += "." + std::string(import.name);
    module_.aliases[import.alias] = std::move(target);
    return {};
  }

  // `if __name__ == "__main__":`
  bool is_main(const IfStmt& statement) const {
    const auto* compare = std::get_if<CompareExpr>(&tree_[statement.condition].value);
    if (compare == nullptr) return false;
    const auto* name = std::get_if<NameExpr>(&tree_[compare->operands[0]].value);
    return name != nullptr && name->name == "__name__";
  }

  Status take_assignment(const AssignStmt& assign, Position at) {
    const auto* target =
        assign.targets.size() == 1 ? std::get_if<NameExpr>(&tree_[assign.targets[0]].value) : nullptr;
    if (target == nullptr) return outside(at);
    const Expression& value = tree_[assign.value];
    if (std::holds_alternative<NoneExpr>(value.value)) {
      module_.attributes.push_back(target->name);
      return {};
    }
    if (const auto* call = std::get_if<CallExpr>(&value.value))
      return take_call(target->name, *call, assign.value, at);
    if (target->name == "call") return entry(assign.value, at);
    if (target->name == "recursively_apply_fns") {
      module_.has_recursively_apply_fns = true;
      return {};
    }
    std::string dotted = module_.dotted_name(assign.value);
    if (dotted.empty()) return outside(at);
    module_.aliases[target->name] = std::move(dotted);
    return {};
  }

  // The values of calls: the compiler, a kernel, the runner.
  Status take_call(std::string_view name, const CallExpr& call, ExpressionId id, Position at) {
    const std::string function = module_.dotted_name(call.function);
    if (function == kCompiler) {
      module_.aliases[name] = std::string(kCompiler);
      return {};
    }
    if (function.starts_with(kCompiler) && function.size() > kCompiler.size()) {
      const auto& method = std::get<AttributeExpr>(tree_[call.function].value);
      module_.kernels.push_back({name, method.name, id, at});
      return {};
    }
    if (function == "Runner") return runner(call, at);
    return TokenStream::unsupported(fmt::format("a call of {}", function.empty() ? "a value" : function), at);
  }

  // `runner = Runner(partitions=[partition_0, …])`
  Status runner(const CallExpr& call, Position at) {
    const ListExpr* list = nullptr;
    for (const Keyword& keyword : call.keywords) {
      if (keyword.name == "partitions") list = std::get_if<ListExpr>(&tree_[keyword.value].value);
    }
    if (list == nullptr) return outside(at);
    module_.partitions.emplace();
    for (const ExpressionId item : list->items) {
      const auto* name = std::get_if<NameExpr>(&tree_[item].value);
      if (name == nullptr || module_.find_function(name->name) == nullptr) return outside(at);
      module_.partitions->push_back(name->name);
    }
    return {};
  }

  // `call = runner.call`
  Status entry(ExpressionId id, Position at) {
    const auto* method = std::get_if<AttributeExpr>(&tree_[id].value);
    if (method == nullptr || method->name != "call" || !module_.partitions) return outside(at);
    if (!module_.call) return outside(at);
    return {};
  }

  Status take_function(const FunctionStmt& function, StatementId id) {
    if (std::find(kTail.begin(), kTail.end(), function.name) != kTail.end()) return {};
    if (function.parameters.size() != 1) return outside(tree_.statement(id).at);
    const Function found{function.name, function.parameters[0].name, id};
    if (function.name == "call") {
      module_.call = found;
    } else {
      module_.functions.push_back(found);
    }
    return {};
  }

  // `class Runner:` with __init__, recursively_apply_fns and call(self, args).
  Status take_class(const ClassStmt& runner, Position at) {
    if (runner.name != "Runner" || !runner.bases.empty()) return outside(at);
    for (const StatementId id : runner.body) {
      const auto* method = std::get_if<FunctionStmt>(&tree_.statement(id).value);
      if (method == nullptr) return outside(tree_.statement(id).at);
      if (method->name != "call") continue;
      if (method->parameters.size() != 2) return outside(tree_.statement(id).at);
      module_.call = Function{method->name, method->parameters[1].name, id};
    }
    return {};
  }

  // A text (the compile-time autotuning block) or `async_compile.wait(globals())`.
  Status expression(const ExpressionStmt& statement, Position at) {
    const Expression& value = tree_[statement.value];
    if (std::holds_alternative<StringExpr>(value.value)) return {};
    const auto* call = std::get_if<CallExpr>(&value.value);
    if (call != nullptr && module_.dotted_name(call->function) == std::string(kCompiler) + ".wait") return {};
    return outside(at);
  }

  Module& module_;
  const Tree& tree_;
};

}  // namespace

const Function* Module::find_function(std::string_view name) const {
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const Function& function) { return function.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

const KernelDefinition* Module::find_kernel(std::string_view name) const {
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const KernelDefinition& kernel) { return kernel.name == name; });
  return found == kernels.end() ? nullptr : &*found;
}

std::string Module::dotted_name(ExpressionId id) const {
  std::vector<std::string_view> parts;
  while (const auto* attribute = std::get_if<AttributeExpr>(&tree[id].value)) {
    parts.push_back(attribute->name);
    id = attribute->object;
  }
  const auto* name = std::get_if<NameExpr>(&tree[id].value);
  if (name == nullptr) return {};
  const auto alias = aliases.find(name->name);
  std::string dotted = alias != aliases.end() ? alias->second : std::string(name->name);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) dotted += "." + std::string(*part);
  return dotted;
}

Expected<Module> read_module(std::string_view source, const ParserLimits& limits) {
  auto tree = parse_module(source, limits);
  if (!tree) return tl::unexpected(tree.error());
  Module module;
  module.source = source;
  module.tree = std::move(*tree);
  if (auto done = ModuleReader(module).read(); !done) return tl::unexpected(done.error());
  return module;
}

}  // namespace cachetool::replay::wrapper
