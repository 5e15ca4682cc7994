#include "verify/vllm_files.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/redact.h"
#include "base/text.h"
#include "container/python_json.h"
#include "container/python_literal.h"
#include "store/classify.h"
#include "store/paths.h"
#include "verify/damage.h"
#include "verify/json_document.h"
#include "verify/structure_checks.h"
#include "verify/vllm_checks.h"

namespace cachetool::verify {
namespace {

using container::Node;
using container::NodeKind;

constexpr std::size_t kDirectoryDigits = 10;
constexpr std::string_view kRedacted = "[redacted]";

std::string text_of(const std::optional<Node>& node) {
  return node && node->is(NodeKind::kString) ? std::string(node->text()) : std::string();
}

/// (handle, path); nothing where it is something else.
bool read_handle(const Node& pair, VllmIndexFacts::Handle& handle) {
  if (!pair.is(NodeKind::kTuple) || pair.size() != 2) return false;
  const auto name = pair.at(0);
  const auto path = pair.at(1);
  if (!name->is(NodeKind::kString) || !path->is(NodeKind::kString)) return false;
  handle.name = name->text();
  handle.path = path->text();
  return true;
}

/// One pair of the index: see docs/formats.md, "vLLM: the index". False when it has none of the known forms.
bool read_index_item(const Node& key, const Node& value, VllmIndexFacts& facts) {
  if (!key.is(NodeKind::kTuple) || key.size() != 3) return false;
  VllmIndexFacts::Handle handle;
  const auto piece = key.at(1);
  const auto compiler = key.at(2);
  if (!piece->is(NodeKind::kInteger) || !compiler->is(NodeKind::kString)) return false;
  handle.piece = piece->as_integer();
  handle.compiler = compiler->text();
  if (value.is(NodeKind::kMap)) {
    handle.key = text_of(value.find("cache_key"));
    const auto pair = value.find("graph_handle");
    if (!pair || !read_handle(*pair, handle)) return false;
  } else if (!read_handle(value, handle)) {
    return false;
  }
  facts.handles.push_back(std::move(handle));
  return true;
}

bool is_limit(ErrorCode code) {
  return code == ErrorCode::kLimitSize || code == ErrorCode::kLimitDepth || code == ErrorCode::kLimitMemory;
}

/// vllm/compilation/backends.py: VllmBackend.__call__ (0.12.0 to 0.33.0): the directory of a configuration.
std::string directory_of_factors(const Node& root) {
  const std::string env = to_hex(sha256(container::python_json(*root.find("env"))));
  std::string list = "[";
  for (const std::string& part : {env, text_of(root.find("config_hash")), text_of(root.find("code_hash")),
                                  text_of(root.find("compiler_hash"))}) {
    if (list.size() > 1) list += ", ";
    list += python_repr(part);
  }
  list += "]";
  return to_hex(sha256(list)).substr(0, kDirectoryDigits);
}

/// Names of variables whose value nobody should read here, in order. `redacted`: some value was masked.
std::string exposed_secrets(const Node& env, bool& redacted) {
  std::string names;
  for (auto key = env.first(); key; key = key->next()) {
    const std::string_view name = key->text();
    key = key->next();
    if (!key->is(NodeKind::kString) || key->text().empty()) continue;
    if (key->text() == kRedacted) {
      redacted = true;
      continue;
    }
    if (redact_value(name, key->text()) == key->text()) continue;
    names += names.empty() ? "" : ", ";
    names += escape_for_terminal(name);
  }
  return names;
}

}  // namespace

Expected<Facts> check_vllm_index(FileInput& input, FileReport& report) {
  if (input.stat().size == 0) {
    report_damage(input, report, checks::kFileEmpty, "the file is empty");
    return Facts{};
  }
  if (input.depth() == Depth::kQuick) return Facts{};
  const auto text = input.whole();
  if (!text) return tl::unexpected(text.error());
  if (const auto bad = find_invalid_utf8(*text, Surrogates::kRejected); bad != std::string_view::npos) {
    report_damage(input, report, checks::kFileEncoding, "not UTF-8", bad);
    return Facts{};
  }
  const auto tree = container::read_python_literal(*text);
  if (!tree) {
    if (is_limit(tree.error().code)) return tl::unexpected(tree.error());
    const bool cut = tree.error().code == ErrorCode::kTruncated;
    report_damage(input, report, cut ? checks::kFileTruncated : checks::kVllmIndex, tree.error().message,
                  tree.error().offset);
    return Facts{};
  }
  VllmIndexFacts facts;
  const Node root = tree->root();
  bool known = root.is(NodeKind::kMap);
  for (auto key = known ? root.first() : std::nullopt; key && known; key = key->next()) {
    const Node name = *key;
    key = key->next();
    known = read_index_item(name, *key, facts);
  }
  if (!known) {
    report_damage(input, report, checks::kVllmIndex, "not a table of compiled pieces");
    return Facts{};
  }
  report.fine(checks::kVllmIndex);
  return facts;
}

Expected<Facts> check_vllm_factors(FileInput& input, FileReport& report) {
  auto tree = read_json_document(input, report);
  if (!tree) return tl::unexpected(std::move(tree.error()));
  if (!*tree) return Facts{};
  const Node root = (*tree)->root();
  const auto env = root.find("env");
  bool usable = env && env->is(NodeKind::kMap);
  for (const std::string_view name : {"config_hash", "code_hash", "compiler_hash"})
    usable = usable && !text_of(root.find(name)).empty();
  if (!usable) {
    report_shape(input, report, "not an object with \"env\" and three hashes");
    return Facts{};
  }
  report.fine(checks::kFileShape);
  bool redacted = false;
  if (const std::string names = exposed_secrets(*env, redacted); !names.empty()) {
    report.found(checks::kVllmSecret, {.message = fmt::format("the value of {} stands in it", names)});
  } else {
    report.fine(checks::kVllmSecret);
  }
  const std::string_view place = input.inventory().directory_of(input.id()).path;
  const std::string_view named = store::name_of(store::directory_of(store::directory_of(place)));
  if (!store::is_hex(named, kDirectoryDigits)) {
    report.not_checkable(checks::kVllmFactors, "the directory isn't named after its factors");
  } else if (redacted) {
    report.not_checkable(checks::kVllmFactors, "a value was redacted, so the name can't be worked out");
  } else if (const std::string computed = directory_of_factors(root); computed != named) {
    report.found(checks::kVllmFactors,
                 {.message = fmt::format("they stand for {}", computed), .repair = whole_directory(input)});
  } else {
    report.fine(checks::kVllmFactors);
  }
  return VllmFactorsFacts{env->find("VLLM_API_KEY").has_value()};
}

}  // namespace cachetool::verify
