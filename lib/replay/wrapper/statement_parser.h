#pragma once

#include <cstdint>

#include "base/error.h"
#include "replay/wrapper/expression_parser.h"
#include "replay/wrapper/token_stream.h"
#include "replay/wrapper/tree.h"

namespace cachetool::replay::wrapper {

/// Parses statements into a tree.
class StatementParser {
 public:
  StatementParser(TokenStream& tokens, Tree& tree, std::uint32_t max_depth)
      : tokens_(tokens), tree_(tree), expressions_(tokens, tree, max_depth) {}

  /// All statements up to the end of the module.
  Expected<Block> module();

 private:
  Status statement(Block& out);
  Status simple_line(Block& out);
  Status simple(Block& out);
  Status import(Block& out);
  Status import_from(Block& out);
  Status deletion(Block& out);
  Status global(Block& out);
  Status expression_or_assignment(Block& out);
  Expected<Block> block();
  Status if_block(Block& out);
  Status while_block(Block& out);
  Status for_block(Block& out);
  Status with_block(Block& out);
  Status function(Block& out);
  Status class_block(Block& out);
  Expected<std::vector<Parameter>> parameters();
  Expected<std::string_view> dotted_name();
  bool at_line_end() const;
  template <class Value>
  void add(Block& out, Position at, Value value) {
    tree_.statements.push_back({at, std::move(value)});
    out.push_back(static_cast<StatementId>(tree_.statements.size() - 1));
  }

  TokenStream& tokens_;
  Tree& tree_;
  ExpressionParser expressions_;
};

}  // namespace cachetool::replay::wrapper
