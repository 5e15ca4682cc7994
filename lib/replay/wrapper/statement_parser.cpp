#include "replay/wrapper/statement_parser.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "replay/wrapper/parser.h"

namespace cachetool::replay::wrapper {
namespace {

constexpr std::array<std::string_view, 6> kUnsupportedWords{"try",   "async", "nonlocal",
                                                            "yield", "await", "except"};

constexpr std::array<std::pair<std::string_view, BinaryOp>, 12> kAugmented{{
    {"+=", BinaryOp::kAdd},
    {"-=", BinaryOp::kSubtract},
    {"*=", BinaryOp::kMultiply},
    {"/=", BinaryOp::kTrueDivide},
    {"//=", BinaryOp::kFloorDivide},
    {"%=", BinaryOp::kModulo},
    {"**=", BinaryOp::kPower},
    {"<<=", BinaryOp::kShiftLeft},
    {">>=", BinaryOp::kShiftRight},
    {"&=", BinaryOp::kAnd},
    {"|=", BinaryOp::kOr},
    {"^=", BinaryOp::kXor},
}};

std::optional<BinaryOp> augmented_at(const TokenStream& tokens) {
  for (const auto& [text, op] : kAugmented) {
    if (tokens.is_operator(text)) return op;
  }
  return std::nullopt;
}

}  // namespace

Expected<Block> StatementParser::module() {
  Block body;
  while (!tokens_.is(TokenKind::kEnd)) {
    if (auto done = statement(body); !done) return tl::unexpected(done.error());
  }
  return body;
}

Status StatementParser::statement(Block& out) {
  if (tokens_.is_operator("@")) return TokenStream::unsupported("a decorator", tokens_.position());
  for (const std::string_view word : kUnsupportedWords) {
    if (tokens_.is_word(word)) return TokenStream::unsupported(fmt::format("'{}'", word), tokens_.position());
  }
  if (tokens_.is_word("if")) return if_block(out);
  if (tokens_.is_word("while")) return while_block(out);
  if (tokens_.is_word("for")) return for_block(out);
  if (tokens_.is_word("with")) return with_block(out);
  if (tokens_.is_word("def")) return function(out);
  if (tokens_.is_word("class")) return class_block(out);
  return simple_line(out);
}

Status StatementParser::simple_line(Block& out) {
  do {
    if (auto done = simple(out); !done) return done;
  } while (tokens_.take_operator(";") && !tokens_.is(TokenKind::kNewline));
  return tokens_.expect(TokenKind::kNewline);
}

bool StatementParser::at_line_end() const {
  return tokens_.is(TokenKind::kNewline) || tokens_.is_operator(";");
}

Status StatementParser::simple(Block& out) {
  const Position at = tokens_.position();
  if (tokens_.is_word("import")) return import(out);
  if (tokens_.is_word("from")) return import_from(out);
  if (tokens_.is_word("del")) return deletion(out);
  if (tokens_.is_word("global")) return global(out);
  if (tokens_.take_word("pass")) return add(out, at, PassStmt{}), Status();
  if (tokens_.take_word("break")) return add(out, at, BreakStmt{}), Status();
  if (tokens_.take_word("continue")) return add(out, at, ContinueStmt{}), Status();
  if (tokens_.is_word("return") || tokens_.is_word("raise")) {
    const bool returns = tokens_.next().text == "return";
    std::optional<ExpressionId> value;
    if (!at_line_end()) {
      auto parsed = expressions_.tests();
      if (!parsed) return tl::unexpected(parsed.error());
      value = *parsed;
    }
    if (tokens_.is_word("from")) return TokenStream::unsupported("'raise … from'", tokens_.position());
    returns ? add(out, at, ReturnStmt{value}) : add(out, at, RaiseStmt{value});
    return {};
  }
  if (tokens_.take_word("assert")) {
    auto condition = expressions_.test();
    if (!condition) return tl::unexpected(condition.error());
    AssertStmt statement{*condition, {}};
    if (tokens_.take_operator(",")) {
      auto message = expressions_.test();
      if (!message) return tl::unexpected(message.error());
      statement.message = *message;
    }
    return add(out, at, statement), Status();
  }
  return expression_or_assignment(out);
}

Status StatementParser::expression_or_assignment(Block& out) {
  const Position at = tokens_.position();
  auto first = expressions_.tests();
  if (!first) return tl::unexpected(first.error());
  if (tokens_.is_operator(":"))
    return TokenStream::unsupported("an annotated assignment", tokens_.position());
  if (const auto op = augmented_at(tokens_)) {
    tokens_.next();
    auto value = expressions_.tests();
    if (!value) return tl::unexpected(value.error());
    if (auto checked = expressions_.check_target(*first); !checked) return checked;
    return add(out, at, AugmentedStmt{*first, *op, *value}), Status();
  }
  AssignStmt assignment{{}, *first};
  while (tokens_.take_operator("=")) {
    if (auto checked = expressions_.check_target(assignment.value); !checked) return checked;
    assignment.targets.push_back(assignment.value);
    auto value = expressions_.tests();
    if (!value) return tl::unexpected(value.error());
    assignment.value = *value;
  }
  if (assignment.targets.empty()) return add(out, at, ExpressionStmt{*first}), Status();
  return add(out, at, std::move(assignment)), Status();
}

Expected<std::string_view> StatementParser::dotted_name() {
  auto name = tokens_.expect_name();
  if (!name) return name;
  std::string_view all = *name;
  while (tokens_.take_operator(".")) {
    auto part = tokens_.expect_name();
    if (!part) return part;
    // Parts may only follow each other directly: the name is one piece of the source.
    if (part->data() != all.data() + all.size() + 1) return tokens_.unexpected_token("a dotted name");
    all = std::string_view(all.data(), all.size() + 1 + part->size());
  }
  return all;
}

Status StatementParser::import(Block& out) {
  const Position at = tokens_.next().at;
  do {
    auto module = dotted_name();
    if (!module) return tl::unexpected(module.error());
    ImportStmt statement{*module, {}, module->substr(0, module->find('.'))};
    if (tokens_.take_word("as")) {
      auto alias = tokens_.expect_name();
      if (!alias) return tl::unexpected(alias.error());
      statement.alias = *alias;
    }
    add(out, at, statement);
  } while (tokens_.take_operator(","));
  return {};
}

Status StatementParser::import_from(Block& out) {
  const Position at = tokens_.next().at;
  auto module = dotted_name();
  if (!module) return tl::unexpected(module.error());
  if (!tokens_.take_word("import")) return tokens_.unexpected_token("'import'");
  if (tokens_.is_operator("*")) return TokenStream::unsupported("'import *'", tokens_.position());
  const bool bracket = tokens_.take_operator("(");
  do {
    if (bracket && tokens_.is_operator(")")) break;
    auto name = tokens_.expect_name();
    if (!name) return tl::unexpected(name.error());
    ImportStmt statement{*module, *name, *name};
    if (tokens_.take_word("as")) {
      auto alias = tokens_.expect_name();
      if (!alias) return tl::unexpected(alias.error());
      statement.alias = *alias;
    }
    add(out, at, statement);
  } while (tokens_.take_operator(","));
  return bracket ? tokens_.expect_operator(")") : Status();
}

Status StatementParser::deletion(Block& out) {
  const Position at = tokens_.next().at;
  auto targets = expressions_.targets();
  if (!targets) return tl::unexpected(targets.error());
  const auto* tuple = std::get_if<TupleExpr>(&tree_[*targets].value);
  add(out, at, DeleteStmt{tuple != nullptr ? tuple->items : ExpressionList{*targets}});
  return {};
}

Status StatementParser::global(Block& out) {
  const Position at = tokens_.next().at;
  GlobalStmt statement;
  do {
    auto name = tokens_.expect_name();
    if (!name) return tl::unexpected(name.error());
    statement.names.push_back(*name);
  } while (tokens_.take_operator(","));
  return add(out, at, std::move(statement)), Status();
}

Expected<Block> StatementParser::block() {
  if (auto colon = tokens_.expect_operator(":"); !colon) return tl::unexpected(colon.error());
  if (auto entered = expressions_.enter(); !entered) return tl::unexpected(entered.error());
  Block body;
  if (!tokens_.is(TokenKind::kNewline)) {
    if (auto done = simple_line(body); !done) return tl::unexpected(done.error());
  } else {
    tokens_.next();
    if (auto indent = tokens_.expect(TokenKind::kIndent); !indent) return tl::unexpected(indent.error());
    while (!tokens_.is(TokenKind::kDedent)) {
      if (tokens_.is(TokenKind::kEnd)) return tokens_.unexpected_token("the end of a block");
      if (auto done = statement(body); !done) return tl::unexpected(done.error());
    }
    tokens_.next();
  }
  expressions_.leave();
  return body;
}

Status StatementParser::if_block(Block& out) {
  const Position at = tokens_.next().at;
  auto condition = expressions_.test();
  if (!condition) return tl::unexpected(condition.error());
  auto then = block();
  if (!then) return tl::unexpected(then.error());
  IfStmt statement{*condition, std::move(*then), {}};
  if (tokens_.is_word("elif")) {
    if (auto entered = expressions_.enter(); !entered) return entered;
    auto done = if_block(statement.otherwise);
    expressions_.leave();
    if (!done) return done;
  } else if (tokens_.take_word("else")) {
    auto otherwise = block();
    if (!otherwise) return tl::unexpected(otherwise.error());
    statement.otherwise = std::move(*otherwise);
  }
  return add(out, at, std::move(statement)), Status();
}

Status StatementParser::while_block(Block& out) {
  const Position at = tokens_.next().at;
  auto condition = expressions_.test();
  if (!condition) return tl::unexpected(condition.error());
  auto body = block();
  if (!body) return tl::unexpected(body.error());
  if (tokens_.is_word("else")) return TokenStream::unsupported("'while … else'", tokens_.position());
  return add(out, at, WhileStmt{*condition, std::move(*body)}), Status();
}

Status StatementParser::for_block(Block& out) {
  const Position at = tokens_.next().at;
  auto target = expressions_.targets();
  if (!target) return tl::unexpected(target.error());
  if (!tokens_.take_word("in")) return tokens_.unexpected_token("'in'");
  auto iterable = expressions_.tests();
  if (!iterable) return tl::unexpected(iterable.error());
  auto body = block();
  if (!body) return tl::unexpected(body.error());
  if (tokens_.is_word("else")) return TokenStream::unsupported("'for … else'", tokens_.position());
  return add(out, at, ForStmt{*target, *iterable, std::move(*body)}), Status();
}

Status StatementParser::with_block(Block& out) {
  const Position at = tokens_.next().at;
  WithStmt statement;
  do {
    auto context = expressions_.test();
    if (!context) return tl::unexpected(context.error());
    WithItem item{*context, {}};
    if (tokens_.take_word("as")) {
      auto target = expressions_.test();
      if (!target) return tl::unexpected(target.error());
      if (auto checked = expressions_.check_target(*target); !checked) return checked;
      item.target = *target;
    }
    statement.items.push_back(item);
  } while (tokens_.take_operator(","));
  auto body = block();
  if (!body) return tl::unexpected(body.error());
  statement.body = std::move(*body);
  return add(out, at, std::move(statement)), Status();
}

Expected<std::vector<Parameter>> StatementParser::parameters() {
  std::vector<Parameter> parameters;
  if (auto open = tokens_.expect_operator("("); !open) return tl::unexpected(open.error());
  while (!tokens_.is_operator(")")) {
    if (tokens_.is_operator("*") || tokens_.is_operator("**") || tokens_.is_operator("/"))
      return TokenStream::unsupported("a parameter of another kind than positional", tokens_.position());
    auto name = tokens_.expect_name();
    if (!name) return tl::unexpected(name.error());
    if (tokens_.is_operator(":")) return TokenStream::unsupported("an annotation", tokens_.position());
    Parameter parameter{*name, {}};
    if (tokens_.take_operator("=")) {
      auto fallback = expressions_.test();
      if (!fallback) return tl::unexpected(fallback.error());
      parameter.fallback = *fallback;
    }
    parameters.push_back(parameter);
    if (!tokens_.take_operator(",")) break;
  }
  if (auto closed = tokens_.expect_operator(")"); !closed) return tl::unexpected(closed.error());
  return parameters;
}

Status StatementParser::function(Block& out) {
  const Position at = tokens_.next().at;
  auto name = tokens_.expect_name();
  if (!name) return tl::unexpected(name.error());
  auto parameters = this->parameters();
  if (!parameters) return tl::unexpected(parameters.error());
  if (tokens_.is_operator("->")) return TokenStream::unsupported("an annotation", tokens_.position());
  auto body = block();
  if (!body) return tl::unexpected(body.error());
  return add(out, at, FunctionStmt{*name, std::move(*parameters), std::move(*body)}), Status();
}

Status StatementParser::class_block(Block& out) {
  const Position at = tokens_.next().at;
  auto name = tokens_.expect_name();
  if (!name) return tl::unexpected(name.error());
  ClassStmt statement{*name, {}, {}};
  if (tokens_.take_operator("(")) {
    while (!tokens_.is_operator(")")) {
      auto base = expressions_.test();
      if (!base) return tl::unexpected(base.error());
      statement.bases.push_back(*base);
      if (!tokens_.take_operator(",")) break;
    }
    if (auto closed = tokens_.expect_operator(")"); !closed) return closed;
  }
  auto body = block();
  if (!body) return tl::unexpected(body.error());
  statement.body = std::move(*body);
  return add(out, at, std::move(statement)), Status();
}

Expected<Tree> parse_module(std::string_view source, const ParserLimits& limits) {
  auto tokens = tokenize(source, limits.tokens);
  if (!tokens) return tl::unexpected(tokens.error());
  TokenStream stream(std::move(*tokens));
  Tree tree;
  StatementParser parser(stream, tree, limits.max_depth);
  auto body = parser.module();
  if (!body) return tl::unexpected(body.error());
  tree.body = std::move(*body);
  return tree;
}

}  // namespace cachetool::replay::wrapper
