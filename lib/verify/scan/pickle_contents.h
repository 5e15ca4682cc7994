#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pickle/document.h"
#include "verify/scan/piece.h"

namespace cachetool::verify {

/// Text that torch evaluates when it gets the object that holds it.
struct ExpressionText {
  std::string_view field;  ///< "guards_expr", …; a literal
  std::string_view text;
  std::uint64_t holder = 0;  ///< offset of the dict that holds it
  bool is_other =
      false;  ///< no text: eval takes bytes and subclasses of str as well; torch never stores them
};

/// Bytes or text inside a pickle that are something by themselves.
struct NestedBytes {
  std::string_view bytes;
  std::string decoded;  ///< what a text stands for (latin-1 or base64); then `bytes` is the text
  Expect expect = Expect::kAnything;
  Origin origin = Origin::kValue;
  std::uint64_t holder = 0;
};

/// Code in a field.
struct CodeField {
  std::string_view what;  ///< a literal
  std::uint64_t bytes = 0;
};

/// What a pickle holds besides calls: everything that the policy of pickles doesn't judge.
struct PickleContents {
  std::vector<ExpressionText> expressions;
  std::vector<NestedBytes> nested;
  std::vector<CodeField> code;
  bool complete = true;  ///< false when the budget ran out
};

/// Walks all values once, whatever class holds them: classes move between releases, and what torch evaluates
/// is told by the field's name. Follows torch/_inductor/output_code.py (CompiledFxGraph),
/// torch/_functorch/_aot_autograd/autograd_cache.py and aot_autograd_result.py, torch/_dynamo/package.py
/// (SerializedCode), vllm/compilation/caching.py. Linear; `budget` pays for the walk.
PickleContents contents_of(const pickle::Document& document, Budget& budget);

}  // namespace cachetool::verify
