#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace cachetool::pickle {

/// A token of a guard expression. `text` points into the expression.
struct SymToken {
  enum class Kind : std::uint8_t {
    kEnd,
    kInteger,    ///< decimal digits, no leading zero
    kFloat,      ///< digits with a point or an exponent
    kName,       ///< an identifier or a dotted one (`math.floor`), keywords included
    kSubscript,  ///< exactly L['t<digits>']
    kSymbol,     ///< operator, parenthesis or comma
  };
  Kind kind = Kind::kEnd;
  std::string_view text;
  std::uint32_t offset = 0;
};

/// Cuts an expression into tokens.
class SymLexer {
 public:
  explicit SymLexer(std::string_view text) : text_(text) {}
  /// The next token, kEnd behind the last. Errors: kMalformed with the offset of a byte that starts none.
  Expected<SymToken> next();

 private:
  SymToken take(SymToken::Kind kind, std::size_t length);
  Expected<SymToken> number();
  std::string_view text_;
  std::size_t at_ = 0;
};

/// True for names of symbolic sizes: letters and underscores with digits at the end (s0, u12, zuf3, s_77).
bool is_sym_symbol(std::string_view name);

}  // namespace cachetool::pickle
