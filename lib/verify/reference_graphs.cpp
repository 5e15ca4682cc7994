#include <algorithm>

#include "verify/references.h"

namespace cachetool::verify {
namespace {

/// How a reference of an AOTAutograd entry fares. torch/_functorch/_aot_autograd/autograd_cache.py:
/// FXGraphCacheLoadable.load.
enum class Fate : std::uint8_t { kFound, kMissing, kOtherGuards, kUnreadable };

struct Target {
  Fate fate = Fate::kMissing;
  bool frozen = false;  ///< every candidate that would be served has frozen parameters
};

Target follow(const ReferenceContext& context, const StorePlace& store,
              const GraphReferenceFacts& reference) {
  Target target;
  bool unreadable = false;
  for (const FileId id : context.index.graphs(store, reference.key)) {
    const EntryFacts* graph = context.cache.entry(id);
    if (graph == nullptr) {
      unreadable = true;
      continue;
    }
    if (reference.guards && graph->guards != *reference.guards) {
      if (target.fate != Fate::kFound) target.fate = Fate::kOtherGuards;
      continue;
    }
    target.frozen = graph->names_frozen_parameters && (target.fate != Fate::kFound || target.frozen);
    target.fate = Fate::kFound;
  }
  if (unreadable && target.fate != Fate::kFound) target.fate = Fate::kUnreadable;
  return target;
}

std::string graph_name(const GraphReferenceFacts& reference) {
  return std::string(reference.is_backward ? "backward" : "forward") + " graph " + reference.key.str();
}

void check_entry(const ReferenceContext& context, FileId id, const EntryFacts& entry) {
  using namespace checks;
  const StorePlace store = context.index.store_of_entry(id);
  FileReport report = report_on_entry(context, id);
  std::vector<std::string> missing;
  std::vector<std::string> other_guards;
  bool unreadable = false;
  bool frozen = entry.names_frozen_parameters;
  for (const GraphReferenceFacts& reference : entry.references) {
    const Target target = follow(context, store, reference);
    if (target.fate == Fate::kMissing) missing.push_back(graph_name(reference));
    if (target.fate == Fate::kOtherGuards) other_guards.push_back(graph_name(reference));
    unreadable = unreadable || target.fate == Fate::kUnreadable;
    frozen = frozen || (target.fate == Fate::kFound && target.frozen);
  }
  if (unreadable)
    report.not_checkable(kGraphMissing, "a candidate of the graph that the entry names can't be decoded");
  if (!missing.empty()) {
    report.found(kGraphMissing, {"names the " + name_some(missing) + ", which the cache doesn't hold"});
  } else if (!unreadable && !entry.references.empty()) {
    report.fine(kGraphMissing);
  }
  if (!other_guards.empty()) {
    report.found(kGraphGuards,
                 {"names the " + name_some(other_guards) + " under guards that none of its candidates has"});
  } else if (!entry.references.empty()) {
    report.fine(kGraphGuards);
  }
  if (frozen) {
    report.found(
        kFrozenReference,
        {"leads to a graph with frozen parameters; on an AOTAutograd hit torch doesn't put them back"});
  } else {
    report.fine(kFrozenReference);
  }
  context.report.add(std::move(report));
}

}  // namespace

void check_graph_references(const ReferenceContext& context) {
  for (const FileId id : entries_to_judge(context)) {
    const EntryFacts& entry = *context.cache.entry(id);
    if (entry.kind == torch::EntryKind::kAotAutograd) check_entry(context, id, entry);
  }
}

}  // namespace cachetool::verify
