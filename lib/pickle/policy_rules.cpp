#include "pickle/policy_rules.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cachetool::pickle {
namespace {

/// From the letters of allow_list.inc.
constexpr std::uint8_t roles_of(std::string_view letters) {
  constexpr std::string_view kLetters = "bfcnksai";
  std::uint8_t roles = 0;
  for (const char letter : letters) roles |= static_cast<std::uint8_t>(1U << kLetters.find(letter));
  return roles;
}

#define ALLOW(module, name, roles, arguments, states, releases, places, reason) \
  Rule{module, name, roles_of(roles), arguments, states, releases, places, reason},
#define LOOKUP(module, name, attribute, use, releases, places, reason)
constexpr Rule kRules[] = {
#include "pickle/allow_list.inc"
};
#undef ALLOW
#undef LOOKUP

constexpr auto key_of(const Rule& rule) {
  return std::pair(rule.module, rule.name);
}
static_assert(std::is_sorted(std::begin(kRules), std::end(kRules),
                             [](const Rule& a, const Rule& b) { return key_of(a) < key_of(b); }));

struct Lookup {
  std::string_view module;
  std::string_view name;
  std::string_view attribute;
  bool called;
};

#define ALLOW(module, name, roles, arguments, states, releases, places, reason)
#define LOOKUP(module, name, attribute, use, releases, places, reason) \
  Lookup{module, name, attribute, std::string_view(use) == "called"},
constexpr Lookup kLookups[] = {
#include "pickle/allow_list.inc"
};
#undef ALLOW
#undef LOOKUP

const Lookup* find_lookup(std::string_view module, std::string_view name, std::string_view attribute) {
  const auto* found = std::find_if(std::begin(kLookups), std::end(kLookups), [&](const Lookup& lookup) {
    return lookup.module == module && lookup.name == name && lookup.attribute == attribute;
  });
  return found == std::end(kLookups) ? nullptr : found;
}

// Below torch, where a stored graph may call functions: they compute.
constexpr std::string_view kGraphModules =
    "nn.functional functional special fft linalg sparse Tensor ops.aten amp.autocast_mode _C._nn _C._linalg "
    "_C._fft "
    "_C._special _C._sparse _C._nested";
// Of torch itself, those that do something else.
constexpr std::string_view kNotInGraphs =
    "load save compile fork wait from_file get_file_path get_device_module import_ir_module "
    "import_ir_module_from_buffer parse_ir parse_schema parse_type_comment merge_type_from_type_comment "
    "prepare_multiprocessing_environment classproperty cond while_loop vmap classes ops hub jit package";

}  // namespace

std::span<const Rule> rules() {
  return kRules;
}

const Rule* find_rule(std::string_view module, std::string_view name) {
  const auto* found = std::lower_bound(std::begin(kRules), std::end(kRules), std::pair(module, name),
                                       [](const Rule& rule, const auto& key) { return key_of(rule) < key; });
  return found != std::end(kRules) && key_of(*found) == std::pair(module, name) ? found : nullptr;
}

bool has_word(std::string_view words, std::string_view word) {
  for (std::size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
    if (end >= words.size()) break;
  }
  return false;
}

bool allowed_attribute(std::string_view module, std::string_view name, std::string_view attribute) {
  return find_lookup(module, name, attribute) != nullptr;
}

bool callable_attribute(std::string_view module, std::string_view name, std::string_view attribute) {
  const Lookup* lookup = find_lookup(module, name, attribute);
  return lookup != nullptr && lookup->called;
}

bool allowed_graph_function(std::string_view root, std::string_view name) {
  if (name.empty() || name.find("__") != std::string_view::npos || name.find(' ') != std::string_view::npos)
    return false;
  const std::size_t dot = name.rfind('.');
  const std::string_view holder = dot == std::string_view::npos ? std::string_view{} : name.substr(0, dot);
  if (root == "torch") {
    if (!holder.empty()) return has_word(kGraphModules, holder) || name == "_C._set_grad_enabled";
    return name[0] >= 'a' && name[0] <= 'z' && !has_word(kNotInGraphs, name);
  }
  if (dot != std::string_view::npos) return false;  // torch.os.system: modules hold other modules
  if (root == "builtins") return has_word("abs bool float int len max min pow round sum", name);
  return root == "math" || root == "einops" ||
         (root == "operator" && !has_word("attrgetter methodcaller itemgetter call", name));
}

}  // namespace cachetool::pickle
