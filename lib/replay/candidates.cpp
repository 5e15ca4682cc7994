#include "replay/candidates.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"
#include "replay/loadable.h"
#include "store/lookup.h"

namespace cachetool::replay {
namespace {

using store::EntryRef;
using store::KeyListing;

bool is_gone(ErrorCode code) {
  return code == ErrorCode::kNoSuchKey || code == ErrorCode::kVanished || code == ErrorCode::kNotFound;
}

char32_t code_point_at(std::string_view text, std::size_t& position) {
  const CodePoint found = decode_utf8(text, position, Surrogates::kRejected);
  position += found.length;
  return found.valid ? found.value : 0xdc00 + found.value;
}

class Walk {
 public:
  Walk(store::Source& source, const WalkRequest& request, const Rules& rules, const store::ReadLimits& limits)
      : source_(source), request_(request), rules_(rules), limits_(limits) {}

  Expected<CandidateWalk> run() {
    auto listing = source_.open_key(request_.key);
    if (!listing) {
      if (is_gone(listing.error().code)) return std::move(walk_);
      return tl::unexpected(listing.error());
    }
    collect(*listing);
    if (reads_one_file()) {
      read_one_file();
    } else {
      for (std::size_t i = 0; i < files_.size(); ++i) {
        if (!decided_) try_candidate(i);
      }
    }
    if (unknown_) {
      walk_.result = LookupResult::kUnknown;
      walk_.guards_expr.reset();
      walk_.raised.reset();
    }
    return std::move(walk_);
  }

 private:
  struct File {
    EntryRef ref;
    std::optional<FileType> special;  ///< what is no regular file
  };

  bool is_fx() const { return request_.cache == CacheClass::kFxGraphCache; }
  bool reads_one_file() const { return !is_fx() && !rules_.guarded_lookup; }

  void collect(const KeyListing& listing) {
    for (EntryRef& ref : candidate_files(request_.key, listing))
      files_.push_back({std::move(ref), std::nullopt});
    for (const store::Skipped& place : listing.skipped) {
      std::string name = place.path.substr(place.path.rfind('/') + 1);
      files_.push_back({{request_.key, std::move(name), listing.directory, 0, 0}, place.type});
    }
    std::sort(files_.begin(), files_.end(),
              [](const File& a, const File& b) { return python_name_before(a.ref.leaf, b.ref.leaf); });
    for (const File& file : files_) {
      walk_.candidates.push_back({file.ref.leaf,
                                  store::entry_path(source_.cache(), file.ref),
                                  CandidateStatus::kNotReached,
                                  std::nullopt,
                                  {}});
    }
  }

  void read_one_file() {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      Candidate& candidate = walk_.candidates[i];
      if (candidate.leaf == "entry") {
        try_candidate(i);
      } else {
        candidate.status = CandidateStatus::kSkipped;
        candidate.message = "this release reads the file `entry` only";
      }
    }
    const bool there = std::any_of(walk_.candidates.begin(), walk_.candidates.end(),
                                   [](const Candidate& candidate) { return candidate.leaf == "entry"; });
    if (!there) warn();
  }

  void try_candidate(std::size_t i) {
    Candidate& candidate = walk_.candidates[i];
    if (rules_.skips_dot_files && candidate.leaf.starts_with('.')) {
      candidate.status = CandidateStatus::kSkipped;
      candidate.message = "the name begins with a dot";
      return;
    }
    if (files_[i].special) return try_special(*files_[i].special, candidate);
    auto opened = store::open_entry(source_, files_[i].ref, limits_);
    if (!opened) return not_opened(opened.error(), candidate);
    std::string doubt = why_it_may_not_load(*opened);
    if (!doubt.empty() && has_unknown_root(*opened)) return may_not_load(std::move(doubt), candidate);
    judge(i, std::move(*opened), std::move(doubt), candidate);
  }

  // What is no regular file.
  void try_special(FileType type, Candidate& candidate) {
    if (type == FileType::kDirectory) {
      candidate.status = CandidateStatus::kNotLoaded;
      candidate.message = "a directory, not a file";
      return warn();
    }
    may_not_load(type == FileType::kSymlink ? "a link: torch follows it, this program doesn't"
                                            : "no regular file: this program doesn't open it",
                 candidate);
  }

  void not_opened(const Error& error, Candidate& candidate) {
    switch (error.code) {
      case ErrorCode::kVanished:
      case ErrorCode::kNotFound:
        candidate.status = CandidateStatus::kNotLoaded;
        candidate.message = "vanished meanwhile";
        if (!rules_.names_cache_in_warning) warn();
        return;
      case ErrorCode::kPermission:
      case ErrorCode::kIo:
        assume(fmt::format("torch can't read {} either", candidate.path));
        [[fallthrough]];
      case ErrorCode::kTruncated:
      case ErrorCode::kMalformed:
        candidate.status = CandidateStatus::kNotLoaded;
        candidate.message =
            error.offset ? fmt::format("{} at offset {}", error.message, *error.offset) : error.message;
        return warn();
      default:  // a limit of this program's, or something that it doesn't model
        may_not_load(error.message, candidate);
    }
  }

  void may_not_load(std::string message, Candidate& candidate) {
    candidate.status = CandidateStatus::kMayNotLoad;
    candidate.message = std::move(message);
    unknown_ = true;
  }

  // `doubt`: why it may not load; empty where it surely does.
  void judge(std::size_t i, store::OpenedEntry opened, std::string doubt, Candidate& candidate) {
    const GuardsField guards = guards_of(opened);
    if (reads_one_file()) return take(i, std::move(opened), std::nullopt, std::move(doubt), candidate);
    if (guards.state == torch::FieldState::kAbsent)
      return doubt.empty() ? no_guards(opened, candidate) : may_not_load(std::move(doubt), candidate);
    if (guards.state == torch::FieldState::kMalformed) {
      candidate.status = CandidateStatus::kGuardsUnknown;
      candidate.message = "guards_expr is no text";
      unknown_ = true;
      return;
    }
    if (guards.state == torch::FieldState::kNone || guards.text.empty())
      return take(i, std::move(opened), std::nullopt, std::move(doubt), candidate);

    std::string text(guards.text);
    candidate.guards_expr = text;
    GuardAnswer answer = request_.judge(text);
    candidate.message = answer.message;
    switch (answer.verdict) {
      case GuardVerdict::kTrue:
        return take(i, std::move(opened), std::move(text), std::move(doubt), candidate);
      case GuardVerdict::kFalse:
        candidate.status = CandidateStatus::kGuardsFalse;
        walk_.result = LookupResult::kGuardMiss;
        walk_.guards_expr = std::move(text);
        // It isn't used either way; only what is warned of and counted differs.
        if (!doubt.empty()) assume(fmt::format("torch can load {}, though {}", candidate.path, doubt));
        return;
      case GuardVerdict::kRaises:
        if (!doubt.empty()) return may_not_load(std::move(doubt), candidate);
        return raise(std::move(*answer.raised), candidate);
      case GuardVerdict::kUnknown:
        candidate.status = CandidateStatus::kGuardsUnknown;
        unknown_ = true;
        may_be_used(i, std::move(opened));
    }
  }

  // torch asserts that a candidate has the attribute (2.8 on) or just reads it.
  void no_guards(const store::OpenedEntry& opened, Candidate& candidate) {
    const std::string type = type_of(opened);
    if (!rules_.guarded_lookup)
      return raise({"AttributeError", fmt::format("'{}' object has no attribute 'guards_expr'", type),
                    "FxGraphCache._lookup_graph"},
                   candidate);
    std::string message;
    if (rules_.assertion_messages)
      message = fmt::format("Cache candidate {} missing 'guards_expr' attribute", type_repr(opened));
    raise({"AssertionError", std::move(message), "GuardedCache.find_guarded_entry"}, candidate);
  }

  void raise(Raised raised, Candidate& candidate) {
    candidate.status = CandidateStatus::kRaises;
    if (candidate.message.empty()) candidate.message = describe(raised);
    walk_.raised = std::move(raised);
    walk_.result = LookupResult::kRaises;
    decided_ = true;
  }

  void take(std::size_t i, store::OpenedEntry opened, std::optional<std::string> guards, std::string doubt,
            Candidate& candidate) {
    if (!doubt.empty()) {
      may_not_load(std::move(doubt), candidate);
      return may_be_used(i, std::move(opened));
    }
    decided_ = true;
    if (unknown_) {
      candidate.status = CandidateStatus::kGuardsTrue;
      return may_be_used(i, std::move(opened));
    }
    candidate.status = CandidateStatus::kUsed;
    walk_.result = LookupResult::kHit;
    walk_.guards_expr = std::move(guards);
    may_be_used(i, std::move(opened));
  }

  void may_be_used(std::size_t i, store::OpenedEntry opened) {
    if (walk_.chosen) return;
    walk_.chosen = i;
    walk_.ref = files_[i].ref;
    walk_.entry = std::move(opened);
  }

  void warn() {
    std::string text;
    if (reads_one_file()) {
      text = "AOTAutograd cache unable to load compiled graph: …";
    } else if (rules_.names_cache_in_warning) {
      text = fmt::format("{} unable to load compiled graph", is_fx() ? "FxGraphCache" : "AOTAutogradCache");
    } else {
      text = "fx graph cache unable to load compiled graph";
    }
    walk_.log.push_back(std::move(text));
  }

  void assume(std::string sentence) { walk_.assumptions.push_back(std::move(sentence)); }

  store::Source& source_;
  const WalkRequest& request_;
  const Rules& rules_;
  const store::ReadLimits& limits_;
  CandidateWalk walk_;
  std::vector<File> files_;
  bool decided_ = false;
  bool unknown_ = false;
};

}  // namespace

std::string_view status_word(CandidateStatus status) {
  static constexpr std::array<std::string_view, 10> kWords{
      "used",         "guards_true", "guards_false", "guards_unknown",  "not_loaded",
      "may_not_load", "skipped",     "raises",       "other_libraries", "not_reached"};
  return kWords[static_cast<std::size_t>(status)];
}

std::string_view result_word(LookupResult result) {
  static constexpr std::array<std::string_view, 6> kWords{"hit",    "guard_miss", "full_miss",
                                                          "raises", "bypass",     "unknown"};
  return kWords[static_cast<std::size_t>(result)];
}

bool python_name_before(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const char32_t one = code_point_at(a, i);
    const char32_t other = code_point_at(b, j);
    if (one != other) return one < other;
  }
  return i == a.size() && j < b.size();
}

std::vector<EntryRef> candidate_files(const store::KeyRef& key, const KeyListing& listing) {
  std::vector<EntryRef> files = listing.entries;
  for (const std::string& name : listing.temporaries) files.push_back({key, name, listing.directory, 0, 0});
  std::sort(files.begin(), files.end(),
            [](const EntryRef& a, const EntryRef& b) { return python_name_before(a.leaf, b.leaf); });
  return files;
}

Expected<CandidateWalk> walk_candidates(store::Source& source, const WalkRequest& request, const Rules& rules,
                                        const store::ReadLimits& limits) {
  return Walk(source, request, rules, limits).run();
}

void for_each_candidate(store::Source& source, const store::KeyRef& key, const store::ReadLimits& limits,
                        const std::function<bool(const store::OpenedEntry&)>& fn) {
  const auto listing = source.open_key(key);
  if (!listing) return;
  for (const EntryRef& ref : candidate_files(key, *listing)) {
    const auto opened = store::open_entry(source, ref, limits);
    if (opened && !fn(*opened)) return;
  }
}

}  // namespace cachetool::replay
