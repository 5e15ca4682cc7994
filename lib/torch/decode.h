#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/budget.h"
#include "base/error.h"
#include "base/interner.h"
#include "pickle/document.h"
#include "torch/aot_entry.h"
#include "torch/entry_summary.h"
#include "torch/notes.h"
#include "torch/output_code.h"
#include "torch/release.h"

namespace cachetool::torch {

/// A pickle whose root is neither a compiled graph nor an AOTAutograd entry (PGO state, a precompile package,
/// …).
struct OtherEntry {
  std::string_view module;  ///< class of the root; empty when the root is no object
  std::string_view name;
};

using Entry = std::variant<OutputCode, AotAutogradEntry, OtherEntry>;

/// An entry with the Document that its views point into. Move-only.
struct Decoded {
  pickle::Document document;
  Entry entry;
  Notes notes;

  /// What the entry is: the root, or the first of a tuple. A standalone artifact in the AOT form packs an
  /// AOTAutograd entry with the Triton kernels and constants that it needs
  /// (torch/_inductor/standalone_compile.py: AOTCompiledArtifact, 2.15.0).
  const pickle::Value& object() const;
  const CompiledFxGraph* fx_graph() const;    ///< null when it is something else
  const AotAutogradEntry* aot_entry() const;  ///< null when it is something else
  const OutputCode* output_code() const;      ///< null for AOTAutograd entries and others
  /// "torch._inductor.output_code.CompiledFxGraph"; empty when the entry is no object.
  std::string class_name() const;
};

/// Parses a pickle and decodes what its root is by its class. `bytes` must outlive the result. Errors are
/// those of pickle::parse; what is merely odd (a field of another type, an unknown field) is in `notes`.
/// kLimitWork when shared values would make decoding take far more steps than the bytes justify.
Expected<Decoded> decode_entry(std::string_view bytes, Budget& budget);

/// The same, taking ownership of the bytes.
Expected<Decoded> decode_entry_owned(std::string bytes, Budget& budget);

/// What `list` keeps of an entry. `key` is its directory's name, `leaf` its file's (zero for torch 2.6's
/// "entry").
EntrySummary summarize(const Decoded& decoded, const HashName& key, const HashName& leaf, Interner& interner);

}  // namespace cachetool::torch
