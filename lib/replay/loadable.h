#pragma once

#include <string>
#include <string_view>

#include "store/opened_entry.h"
#include "torch/field.h"

namespace cachetool::replay {

/// Why Python may not be able to load what this program could decode: it names something that no studied
/// torch stores, so that it depends on the modules at hand. A clause; empty when all names are torch's own.
std::string why_it_may_not_load(const store::OpenedEntry& entry);

/// Is the root an object of a class that no studied torch stores here? What torch would make of it isn't
/// known.
bool has_unknown_root(const store::OpenedEntry& entry);

/// The attribute guards_expr of what an entry's file holds, as torch would see it.
struct GuardsField {
  torch::FieldState state = torch::FieldState::kAbsent;
  std::string_view text;  ///< into the entry
};
GuardsField guards_of(const store::OpenedEntry& entry);

/// Python's type(x).__name__ of the root: "CompiledFxGraph", "dict".
std::string type_of(const store::OpenedEntry& entry);
/// repr(type(x)): "<class 'dict'>".
std::string type_repr(const store::OpenedEntry& entry);

}  // namespace cachetool::replay
