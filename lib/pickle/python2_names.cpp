#include "pickle/python2_names.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cachetool::pickle {
namespace {

struct Renamed {
  std::string_view module;
  std::string_view name;  // empty: the whole module
  ImportName now;
};

#define RENAMED(module, name, new_module, new_name) Renamed{module, name, {new_module, new_name}},
constexpr Renamed kRenamed[] = {
#include "pickle/python2_names.inc"
};
#undef RENAMED

constexpr auto key_of(const Renamed& renamed) {
  return std::pair(renamed.module, renamed.name);
}
static_assert(std::is_sorted(std::begin(kRenamed), std::end(kRenamed),
                             [](const Renamed& a, const Renamed& b) { return key_of(a) < key_of(b); }));

const Renamed* find(std::string_view module, std::string_view name) {
  const auto* found = std::lower_bound(std::begin(kRenamed), std::end(kRenamed), std::pair(module, name),
                                       [](const Renamed& r, const auto& key) { return key_of(r) < key; });
  return found != std::end(kRenamed) && key_of(*found) == std::pair(module, name) ? found : nullptr;
}

}  // namespace

ImportName python3_name(std::string_view module, std::string_view name) {
  if (name.empty()) return {module, name};
  if (const Renamed* renamed = find(module, name)) return renamed->now;
  if (const Renamed* renamed = find(module, "")) return {renamed->now.module, name};
  return {module, name};
}

}  // namespace cachetool::pickle
