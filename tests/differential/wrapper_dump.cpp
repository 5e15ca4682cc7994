// Parses wrapper modules for compare_wrapper.py: reads length-prefixed texts from standard input until it
// ends and answers each with a length-prefixed line: the tree as nested lists, or `E <code> <offset>
// <message>`.

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/text.h"
#include "replay/wrapper/parser.h"

namespace {

using namespace cachetool;
using namespace cachetool::replay::wrapper;

template <class... Fns>
struct Overloaded : Fns... {
  using Fns::operator()...;
};
template <class... Fns>
Overloaded(Fns...) -> Overloaded<Fns...>;

constexpr std::array<const char*, 12> kBinary{"Add", "Sub",    "Mult",   "Div",    "FloorDiv", "Mod",
                                              "Pow", "LShift", "RShift", "BitAnd", "BitOr",    "BitXor"};
constexpr std::array<const char*, 4> kUnary{"USub", "UAdd", "Invert", "Not"};
constexpr std::array<const char*, 10> kCompare{"Lt",    "LtE", "Gt",    "GtE", "Eq",
                                               "NotEq", "Is",  "IsNot", "In",  "NotIn"};

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

// The same notation as compare_wrapper.py's. Recursion is fine here: the parser bounds the depth.
class Dump {
 public:
  explicit Dump(const Tree& tree) : tree_(tree) {}

  std::string module() const { return block(tree_.body); }

 private:
  std::string block(const Block& statements) const {
    std::string text = "[";
    for (const StatementId id : statements) text += statement(id) + " ";
    return text + "]";
  }
  std::string list(const ExpressionList& items) const {
    std::string text = "[";
    for (const ExpressionId id : items) text += expression(id) + " ";
    return text + "]";
  }
  std::string optional(std::optional<ExpressionId> id) const { return id ? expression(*id) : "-"; }

  std::string expression(ExpressionId id) const {
    const Expression& node = tree_[id];
    return std::visit(
        Overloaded{
            [](const NameExpr& e) { return fmt::format("(name {})", e.name); },
            [](const NoneExpr&) { return std::string("None"); },
            [](const BoolExpr& e) { return std::string(e.value ? "True" : "False"); },
            [](const IntegerExpr& e) { return fmt::format("i{}", e.value); },
            [](const FloatExpr& e) { return "f" + python_float_repr(e.value); },
            [](const StringExpr& e) { return (e.is_bytes ? "b" : "s") + hex(e.text); },
            [](const EllipsisExpr&) { return std::string("..."); },
            [&](const TupleExpr& e) { return "(tuple " + list(e.items) + ")"; },
            [&](const ListExpr& e) { return "(list " + list(e.items) + ")"; },
            [&](const DictExpr& e) {
              std::string text = "(dict ";
              for (const auto& [key, value] : e.items)
                text += expression(key) + ":" + expression(value) + " ";
              return text + ")";
            },
            [&](const AttributeExpr& e) { return fmt::format("(attr {} {})", expression(e.object), e.name); },
            [&](const SubscriptExpr& e) {
              return fmt::format("(item {} {})", expression(e.object), expression(e.index));
            },
            [&](const SliceExpr& e) {
              return fmt::format("(slice {} {} {})", optional(e.start), optional(e.stop), optional(e.step));
            },
            [&](const CallExpr& e) {
              std::string text = fmt::format("(call {} {} ", expression(e.function), list(e.arguments));
              for (const Keyword& keyword : e.keywords)
                text += fmt::format("{}={} ", keyword.name, expression(keyword.value));
              return text + ")";
            },
            [&](const UnaryExpr& e) {
              return fmt::format("({} {})", kUnary[static_cast<std::size_t>(e.op)], expression(e.operand));
            },
            [&](const BinaryExpr& e) {
              return fmt::format("({} {} {})", kBinary[static_cast<std::size_t>(e.op)], expression(e.left),
                                 expression(e.right));
            },
            [&](const CompareExpr& e) {
              std::string text = "(compare " + list(e.operands);
              for (const Comparison c : e.comparisons)
                text += fmt::format(" {}", kCompare[static_cast<std::size_t>(c)]);
              return text + ")";
            },
            [&](const BoolOpExpr& e) {
              return fmt::format("({} {})", e.op == BoolOp::kAnd ? "And" : "Or", list(e.operands));
            },
            [&](const ConditionalExpr& e) {
              return fmt::format("(if {} {} {})", expression(e.condition), expression(e.then),
                                 expression(e.otherwise));
            },
            [&](const LambdaExpr& e) {
              std::string text = "(lambda ";
              for (const std::string_view name : e.parameters) text += std::string(name) + " ";
              return text + expression(e.body) + ")";
            },
        },
        node.value);
  }

  std::string statement(StatementId id) const {
    const Statement& node = tree_.statement(id);
    const std::string text = std::visit(
        Overloaded{
            [](const ImportStmt& s) { return fmt::format("import {} {} {}", s.module, s.name, s.alias); },
            [&](const AssignStmt& s) {
              return fmt::format("assign {} {}", list(s.targets), expression(s.value));
            },
            [&](const AugmentedStmt& s) {
              return fmt::format("aug {} {} {}", expression(s.target),
                                 kBinary[static_cast<std::size_t>(s.op)], expression(s.value));
            },
            [&](const ExpressionStmt& s) { return "expr " + expression(s.value); },
            [&](const DeleteStmt& s) { return "del " + list(s.targets); },
            [&](const ReturnStmt& s) { return "return " + optional(s.value); },
            [&](const RaiseStmt& s) { return "raise " + optional(s.value); },
            [&](const AssertStmt& s) {
              return fmt::format("assert {} {}", expression(s.condition), optional(s.message));
            },
            [](const GlobalStmt& s) {
              std::string names = "global";
              for (const std::string_view name : s.names) names += " " + std::string(name);
              return names;
            },
            [](const PassStmt&) { return std::string("pass"); },
            [](const BreakStmt&) { return std::string("break"); },
            [](const ContinueStmt&) { return std::string("continue"); },
            [&](const IfStmt& s) {
              return fmt::format("if {} {} {}", expression(s.condition), block(s.then), block(s.otherwise));
            },
            [&](const WhileStmt& s) {
              return fmt::format("while {} {}", expression(s.condition), block(s.body));
            },
            [&](const ForStmt& s) {
              return fmt::format("for {} {} {}", expression(s.target), expression(s.iterable), block(s.body));
            },
            [&](const WithStmt& s) {
              std::string items;
              for (const WithItem& item : s.items)
                items += fmt::format("{} {} ", expression(item.context), optional(item.target));
              return fmt::format("with {}{}", items, block(s.body));
            },
            [&](const FunctionStmt& s) {
              std::string names;
              for (const Parameter& p : s.parameters)
                names += fmt::format("{}={} ", p.name, optional(p.fallback));
              return fmt::format("def {} {}{}", s.name, names, block(s.body));
            },
            [&](const ClassStmt& s) {
              return fmt::format("class {} {} {}", s.name, list(s.bases), block(s.body));
            },
        },
        node.value);
    return fmt::format("({}: {})", node.at.line, text);
  }

  const Tree& tree_;
};

bool read_exactly(std::string& buffer, std::size_t size) {
  buffer.resize(size);
  return std::fread(buffer.data(), 1, size, stdin) == size;
}

}  // namespace

int main() {
  std::string size;
  std::string source;
  while (read_exactly(size, 4)) {
    std::size_t length = 0;
    for (int i = 3; i >= 0; --i)
      length = length << 8 | static_cast<unsigned char>(size[static_cast<std::size_t>(i)]);
    if (!read_exactly(source, length)) return 1;
    const auto tree = parse_module(source);
    const std::string answer = tree ? Dump(*tree).module()
                                    : fmt::format("E {} {} {}", code_name(tree.error().code),
                                                  tree.error().offset.value_or(0), tree.error().message);
    for (int i = 0; i < 4; ++i) std::fputc(static_cast<int>(answer.size() >> (8 * i) & 0xff), stdout);
    std::fwrite(answer.data(), 1, answer.size(), stdout);
    std::fflush(stdout);
  }
  return 0;
}
