#pragma once

#include <cstdint>

#include "base/error.h"
#include "replay/wrapper/token_stream.h"
#include "replay/wrapper/tree.h"

namespace cachetool::replay::wrapper {

/// Parses expressions into a tree. Recursion is bounded by `max_depth`, which the statements share.
class ExpressionParser {
 public:
  ExpressionParser(TokenStream& tokens, Tree& tree, std::uint32_t max_depth)
      : tokens_(tokens), tree_(tree), depth_left_(max_depth) {}

  /// One expression without a comma outside of brackets: a test in Python's grammar.
  Expected<ExpressionId> test();
  /// Expressions separated by commas: a tuple as soon as there is a comma.
  Expected<ExpressionId> tests();
  /// What can be assigned to, separated by commas, up to `in`, '=' or the end of the line.
  Expected<ExpressionId> targets();
  /// kMalformed unless the expression can be assigned to (and deleted).
  Status check_target(ExpressionId id) const;

  /// Goes one level deeper; kLimitDepth when that is too deep. Every success is paired with leave().
  Status enter();
  void leave() { ++depth_left_; }

 private:
  Expected<ExpressionId> lambda();
  Expected<ExpressionId> or_test();
  Expected<ExpressionId> and_test();
  Expected<ExpressionId> not_test();
  Expected<ExpressionId> comparison();
  Expected<ExpressionId> binary(int level);
  Expected<ExpressionId> factor();
  Expected<ExpressionId> power();
  Expected<ExpressionId> primary();
  Expected<ExpressionId> trailers(ExpressionId object);
  Expected<ExpressionId> call(ExpressionId function, Position at);
  Expected<ExpressionId> subscript(ExpressionId object, Position at);
  Expected<ExpressionId> slice();
  Expected<ExpressionId> atom();
  Expected<ExpressionId> parenthesised(Position at);
  Expected<ExpressionId> list(Position at);
  Expected<ExpressionId> dict(Position at);
  Expected<ExpressionId> number();
  Expected<ExpressionId> strings();
  template <class Value>
  ExpressionId add(Position at, Value value) {
    tree_.expressions.push_back({at, std::move(value)});
    return static_cast<ExpressionId>(tree_.expressions.size() - 1);
  }

  TokenStream& tokens_;
  Tree& tree_;
  std::uint32_t depth_left_;
};

}  // namespace cachetool::replay::wrapper
