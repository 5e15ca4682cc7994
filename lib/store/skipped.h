#pragma once

#include <vector>

#include "store/artifact.h"
#include "store/references.h"

namespace cachetool::store {

/// Appends the places of `from` that `to` doesn't name yet.
void add_skipped(std::vector<Skipped>& to, std::vector<Skipped> from);

/// What `references` couldn't read besides entries: a listing has a row for an entry that it couldn't read.
std::vector<Skipped> skipped_besides_entries(const ReferenceIndex& references);

}  // namespace cachetool::store
