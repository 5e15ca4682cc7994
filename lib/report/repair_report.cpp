#include "report/repair_report.h"

#include "report/json_members.h"

#include <fmt/format.h>

#include <string>

namespace cachetool::report {
namespace {

using change::UnitState;
using verify::RootRepair;

/// What became of a unit: "planned" before anything was done.
std::string_view state_word(const RootRepair& repair, std::size_t unit) {
  if (repair.failure) return "failed";
  if (!repair.executed) return "planned";
  switch (repair.outcome.units[unit].state) {
    case UnitState::kDone:
      return "moved";
    case UnitState::kSkipped:
      return "skipped";
    case UnitState::kPutBack:
      return "put-back";
    case UnitState::kFailed:
      return "failed";
  }
  return "failed";
}

/// Why a unit isn't in quarantine; empty for one that is.
std::string reason_of(const RootRepair& repair, std::size_t unit) {
  if (repair.failure) return describe(*repair.failure);
  if (!repair.executed) return {};
  const change::UnitOutcome& outcome = repair.outcome.units[unit];
  return outcome.error ? describe(*outcome.error) : outcome.why;
}

Style style_of(std::string_view state) {
  if (state == "moved") return Style::kGood;
  return state == "planned" ? Style::kPlain : Style::kWarning;
}

std::string place(const store::CacheSet& cache, std::uint32_t root, const std::string& path) {
  return root == 0 ? path : store::full_path(cache, root, path);
}

}  // namespace

void write_repair_text(SectionWriter& sections, const store::CacheSet& cache,
                       const std::vector<RootRepair>& repairs) {
  std::vector<std::vector<Cell>> rows;
  for (const RootRepair& repair : repairs) {
    for (std::size_t i = 0; i < repair.plan.units.size(); ++i) {
      const change::PlannedUnit& unit = repair.plan.units[i];
      const std::string state(state_word(repair, i));
      const std::string why = reason_of(repair, i);
      for (std::size_t path = 0; path < unit.paths.size(); ++path) {
        rows.push_back({{place(cache, repair.root, unit.paths[path].path), Style::kName},
                        {unit.reason},
                        {path == 0 ? sections.look().size(unit.amount.bytes) : ""},
                        {why.empty() ? state : fmt::format("{}: {}", state, why), style_of(state)}});
      }
    }
    for (const change::LeftOut& left : repair.plan.left_out)
      rows.push_back(
          {{place(cache, repair.root, left.label), Style::kName}, {}, {}, {"left out: " + left.why}});
  }
  sections.title("Repair: into quarantine");
  sections.table(
      {{"PATH", Align::kLeft, 24}, {"REASON"}, {"SIZE", Align::kRight}, {"STATE", Align::kLeft, 16}},
      std::move(rows));
  for (const RootRepair& repair : repairs) {
    if (!repair.outcome.quarantine.empty())
      sections.field("quarantine", store::full_path(cache, repair.root, repair.outcome.quarantine));
    for (const Error& problem : repair.outcome.problems)
      sections.field("problem", describe(problem), Style::kWarning);
  }
}

void write_repair_units(JsonWriter& json, const store::CacheSet& cache,
                        const std::vector<RootRepair>& repairs) {
  for (const RootRepair& repair : repairs) {
    const std::string& root = cache.roots[repair.root].path;
    for (std::size_t i = 0; i < repair.plan.units.size(); ++i) {
      const change::PlannedUnit& unit = repair.plan.units[i];
      json.begin_object();
      json.member("root", root);
      json.member("reason", unit.reason);
      json.key("paths");
      json.begin_array();
      for (const change::PlannedPath& path : unit.paths) json.string(path.path);
      json.end_array();
      json.member("files", unit.amount.files);
      json.member("bytes", unit.amount.bytes);
      json.member("state", state_word(repair, i));
      text_or_null(json, "why", reason_of(repair, i));
      text_or_null(json, "quarantine", repair.outcome.quarantine);
      json.end_object();
    }
    for (const change::LeftOut& left : repair.plan.left_out) {
      json.begin_object();
      json.member("root", root);
      json.key("paths");
      json.begin_array();
      json.string(left.label);
      json.end_array();
      json.member("state", "left-out");
      json.member("why", left.error ? describe(*left.error) : left.why);
      json.end_object();
    }
  }
}

}  // namespace cachetool::report
