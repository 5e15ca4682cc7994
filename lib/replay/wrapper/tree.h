#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "replay/wrapper/token.h"

namespace cachetool::replay::wrapper {

/// The typed tree of a wrapper module. Expressions and statements stand in one vector each and refer to each
/// other by position, so that a tree of any depth is destroyed without recursion. Texts are views into the
/// source, which must outlive the tree.
using ExpressionId = std::uint32_t;
using StatementId = std::uint32_t;
using ExpressionList = std::vector<ExpressionId>;
using Block = std::vector<StatementId>;

// --- expressions

struct NameExpr {
  std::string_view name;
};
struct NoneExpr {};
struct BoolExpr {
  bool value;
};
struct IntegerExpr {
  std::int64_t value;  ///< an integer beyond 64 bits is refused
};
struct FloatExpr {
  double value;
};
struct StringExpr {
  std::string text;  ///< evaluated, adjacent literals joined
  bool is_bytes = false;
};
struct EllipsisExpr {};
struct TupleExpr {
  ExpressionList items;
};
struct ListExpr {
  ExpressionList items;
};
struct DictExpr {
  std::vector<std::pair<ExpressionId, ExpressionId>> items;
};
struct AttributeExpr {
  ExpressionId object;
  std::string_view name;
};
struct SubscriptExpr {
  ExpressionId object;
  ExpressionId index;
};
/// `start:stop:step` inside a subscript.
struct SliceExpr {
  std::optional<ExpressionId> start, stop, step;
};
struct Keyword {
  std::string_view name;
  ExpressionId value;
};
struct CallExpr {
  ExpressionId function;
  ExpressionList arguments;
  std::vector<Keyword> keywords;
};
enum class UnaryOp : std::uint8_t { kNegate, kPlus, kInvert, kNot };
struct UnaryExpr {
  UnaryOp op;
  ExpressionId operand;
};
enum class BinaryOp : std::uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kTrueDivide,
  kFloorDivide,
  kModulo,
  kPower,
  kShiftLeft,
  kShiftRight,
  kAnd,
  kOr,
  kXor,
};
struct BinaryExpr {
  BinaryOp op;
  ExpressionId left, right;
};
enum class Comparison : std::uint8_t {
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kIs,
  kIsNot,
  kIn,
  kNotIn
};
/// `a < b <= c`: one more operand than comparisons.
struct CompareExpr {
  ExpressionList operands;
  std::vector<Comparison> comparisons;
};
enum class BoolOp : std::uint8_t { kAnd, kOr };
struct BoolOpExpr {
  BoolOp op;
  ExpressionList operands;
};
/// `then if condition else otherwise`
struct ConditionalExpr {
  ExpressionId condition, then, otherwise;
};
/// Only the module's tail has them, which is never run.
struct LambdaExpr {
  std::vector<std::string_view> parameters;
  ExpressionId body;
};

struct Expression {
  Position at;
  std::variant<NameExpr, NoneExpr, BoolExpr, IntegerExpr, FloatExpr, StringExpr, EllipsisExpr, TupleExpr,
               ListExpr, DictExpr, AttributeExpr, SubscriptExpr, SliceExpr, CallExpr, UnaryExpr, BinaryExpr,
               CompareExpr, BoolOpExpr, ConditionalExpr, LambdaExpr>
      value;
};

// --- statements

/// `import module as alias` and `from module import name as alias`, one for each name. Recorded, not done.
struct ImportStmt {
  std::string_view module;  ///< dotted
  std::string_view name;    ///< behind `from … import`; empty for a plain import
  std::string_view alias;   ///< the name that is bound: of the `as` part, else what Python binds
};
/// `a = b = value`: names, attributes, subscripts, or tuples and lists of them.
struct AssignStmt {
  ExpressionList targets;
  ExpressionId value;
};
struct AugmentedStmt {
  ExpressionId target;
  BinaryOp op;
  ExpressionId value;
};
struct ExpressionStmt {
  ExpressionId value;
};
struct DeleteStmt {
  ExpressionList targets;
};
struct ReturnStmt {
  std::optional<ExpressionId> value;
};
struct RaiseStmt {
  std::optional<ExpressionId> value;
};
struct AssertStmt {
  ExpressionId condition;
  std::optional<ExpressionId> message;
};
struct GlobalStmt {
  std::vector<std::string_view> names;
};
struct PassStmt {};
struct BreakStmt {};
struct ContinueStmt {};
struct IfStmt {
  ExpressionId condition;
  Block then, otherwise;  ///< an elif is an if alone in `otherwise`
};
struct WhileStmt {
  ExpressionId condition;
  Block body;
};
struct ForStmt {
  ExpressionId target, iterable;
  Block body;
};
struct WithItem {
  ExpressionId context;
  std::optional<ExpressionId> target;
};
struct WithStmt {
  std::vector<WithItem> items;
  Block body;
};
struct Parameter {
  std::string_view name;
  std::optional<ExpressionId> fallback;
};
struct FunctionStmt {
  std::string_view name;
  std::vector<Parameter> parameters;
  Block body;
};
struct ClassStmt {
  std::string_view name;
  ExpressionList bases;
  Block body;
};

struct Statement {
  Position at;
  std::variant<ImportStmt, AssignStmt, AugmentedStmt, ExpressionStmt, DeleteStmt, ReturnStmt, RaiseStmt,
               AssertStmt, GlobalStmt, PassStmt, BreakStmt, ContinueStmt, IfStmt, WhileStmt, ForStmt,
               WithStmt, FunctionStmt, ClassStmt>
      value;
};

/// A parsed module.
struct Tree {
  std::vector<Expression> expressions;
  std::vector<Statement> statements;
  Block body;  ///< the module's own statements

  const Expression& operator[](ExpressionId id) const { return expressions[id]; }
  const Statement& statement(StatementId id) const { return statements[id]; }
};

}  // namespace cachetool::replay::wrapper
