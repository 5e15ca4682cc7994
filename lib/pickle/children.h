#pragma once

#include "pickle/value.h"

namespace cachetool::pickle {

/// True when `value` is a node that lives in an arena (and may hold others), not a scalar or text.
inline bool is_node(const Value& value) {
  switch (value.tag()) {
    case Tag::kList:
    case Tag::kTuple:
    case Tag::kDict:
    case Tag::kSet:
    case Tag::kFrozenSet:
    case Tag::kGlobal:
    case Tag::kObject:
    case Tag::kPersistent:
      return true;
    default:
      return false;
  }
}

/// Calls `visit` with every value that `value` holds directly, in order.
template <class Visit>
void visit_children(const Value& value, Visit visit) {
  const auto visit_pairs = [&](const DictNode& dict) {
    for (const Pair& pair : dict.pairs()) {
      visit(pair.key);
      visit(pair.value);
    }
  };
  switch (value.tag()) {
    case Tag::kList:
    case Tag::kTuple:
    case Tag::kSet:
    case Tag::kFrozenSet:
      for (const Value& item : items_of(value)) visit(item);
      break;
    case Tag::kDict:
      visit_pairs(value.dict());
      break;
    case Tag::kPersistent:
      visit(value.persistent().id);
      break;
    case Tag::kObject: {
      const ObjectNode& object = value.object();
      visit(object.callable);
      visit(object.args);
      visit(object.kwargs);
      for (const Value& state : object.states.items()) visit(state);
      for (const Value& item : object.appended.items()) visit(item);
      visit_pairs(object.items);
      break;
    }
    default:
      break;
  }
}

}  // namespace cachetool::pickle
