#pragma once

#include <string_view>

namespace cachetool::pickle {

struct ImportName {
  std::string_view module;
  std::string_view name;
};

/// What CPython 3 imports for a global of a pickle of protocol 0 to 2 (Modules/_pickle.c, find_class with
/// fix_imports): names of Python 2's standard library become those of Python 3's. Later protocols import
/// names as they are.
ImportName python3_name(std::string_view module, std::string_view name);

}  // namespace cachetool::pickle
