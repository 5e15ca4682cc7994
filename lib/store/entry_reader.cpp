#include "store/entry_reader.h"

#include <fmt/format.h>

#include <variant>

#include "torch/decode.h"

namespace cachetool::store {
namespace {

void set_problem(EntryRow& row, EntryState state, const Error& error, Interner& strings) {
  row.state = state;
  row.problem = strings.intern(error.offset ? fmt::format("{} at offset {}", error.message, *error.offset)
                                            : error.message);
  row.problem_code = strings.intern(code_name(error.code));
}

// Decodes `bytes` into the row's summary, or says why that can't be done.
void summarize_into(EntryRow& row, std::string_view bytes, const ReadLimits& limits,
                    const OutcomeOf& outcome_of, Interner& strings) {
  Budget budget = limits.budget(bytes.size());
  const auto decoded = torch::decode_entry(bytes, budget);
  if (!decoded) return set_problem(row, EntryState::kDamaged, decoded.error(), strings);
  if (const auto* other = std::get_if<torch::OtherEntry>(&decoded->entry);
      other != nullptr && other->name.empty()) {
    const Error error{
        ErrorCode::kWrongType, "the pickle holds no object, so it is no cache entry", {}, {}, {}};
    return set_problem(row, EntryState::kDamaged, error, strings);
  }
  const torch::EntryKind kind = row.summary.kind;
  row.summary = torch::summarize(*decoded, row.summary.key, row.summary.leaf, strings);
  row.summary.kind = kind;
  if (outcome_of) outcome_of(*decoded, row, strings);
}

}  // namespace

void read_key(Source& source, const KeyRef& key, const ReadLimits& limits, const OutcomeOf& outcome_of,
              Interner& strings, std::string& buffer, KeyRows& out) {
  out.rows.clear();
  out.skipped.clear();
  auto listing = source.open_key(key);
  if (!listing) {
    if (listing.error().code == ErrorCode::kVanished || listing.error().code == ErrorCode::kNoSuchKey) return;
    const std::uint32_t root = source.cache().stores[key.store].root;
    out.skipped.push_back({root, listing.error().path, FileType::kDirectory, listing.error()});
    return;
  }
  out.skipped = std::move(listing->skipped);
  for (const EntryRef& entry : listing->entries) {
    EntryRow row;
    row.store = key.store;
    row.summary.key = key.key;
    row.summary.kind = key.kind;
    if (const auto leaf = torch::HashName::parse(entry.leaf)) {
      row.summary.leaf = *leaf;
    } else {
      row.leaf = strings.intern(entry.leaf);
    }
    const auto stat = source.read_entry(entry, limits.max_entry_bytes, buffer);
    if (stat) {
      row.bytes = buffer.size();
      row.modified_ns = stat->mtime_ns;
      summarize_into(row, buffer, limits, outcome_of, strings);
    } else if (stat.error().code == ErrorCode::kVanished || stat.error().code == ErrorCode::kNotFound) {
      continue;
    } else {
      // A file that is too large or became shorter is to blame itself; all else lies on the way to it.
      const ErrorCode code = stat.error().code;
      const bool damaged = code == ErrorCode::kLimitSize || code == ErrorCode::kTruncated;
      set_problem(row, damaged ? EntryState::kDamaged : EntryState::kUnreadable, stat.error(), strings);
    }
    out.rows.push_back(row);
  }
}

}  // namespace cachetool::store
