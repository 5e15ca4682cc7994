#include <fmt/format.h>

#include <algorithm>

#include "report/lookup_report.h"

namespace cachetool::report {
namespace {

using replay::Candidate;
using replay::CandidateStatus;
using replay::KeyLookup;
using replay::Lookup;
using replay::LookupResult;

Style style_of(LookupResult result) {
  switch (result) {
    case LookupResult::kHit:
      return Style::kGood;
    case LookupResult::kGuardMiss:
    case LookupResult::kFullMiss:
    case LookupResult::kBypass:
      return Style::kWarning;
    case LookupResult::kRaises:
    case LookupResult::kUnknown:
      break;
  }
  return Style::kBad;
}

std::string words_of(CandidateStatus status) {
  std::string words(status_word(status));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string sizes_text(const replay::SizeValues& sizes) {
  std::string text;
  const std::size_t count = std::max(sizes.inputs.expressions.size(), sizes.values.size());
  for (std::size_t n = 0; n < count; ++n) {
    const auto value = sizes.value(n);
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", sizes.label(n),
                        value ? std::to_string(*value) : "not given");
  }
  if (!sizes.inputs.complete && !sizes.inputs.reason.empty())
    text += fmt::format("{}{}", text.empty() ? "" : "; there may be more: ", sizes.inputs.reason);
  return text;
}

void write_candidates(SectionWriter& sections, const KeyLookup& found) {
  std::vector<std::vector<Cell>> rows;
  for (const Candidate& candidate : found.candidates) {
    std::string why = candidate.message;
    if (candidate.guards_expr) why += fmt::format("{}{}", why.empty() ? "" : ": ", *candidate.guards_expr);
    rows.push_back({{sections.look().names == Names::kFull ? candidate.leaf : candidate.leaf.substr(0, 12),
                     Style::kName},
                    {words_of(candidate.status)},
                    {std::move(why)}});
  }
  sections.table({{"CANDIDATE"}, {"STATUS"}, {"WHY", Align::kLeft, 24}}, std::move(rows));
}

std::string outcome(const KeyLookup& found) {
  switch (found.result) {
    case LookupResult::kHit:
      return "hit: torch uses " + found.leaf;
    case LookupResult::kGuardMiss:
      return "guard miss: torch compiles again";
    case LookupResult::kFullMiss:
      return "full miss: torch compiles again";
    case LookupResult::kRaises:
      return "torch raises " + (found.raised ? describe(*found.raised) : std::string("an exception"));
    case LookupResult::kBypass:
      return "bypass: torch compiles again and stores nothing";
    case LookupResult::kUnknown:
      break;
  }
  return "not known which candidate torch uses";
}

}  // namespace

void write_lookup_section(SectionWriter& sections, const Lookup& lookup) {
  sections.title("lookup of " + lookup.key);
  sections.field("result", outcome(lookup), style_of(lookup.result));
  if (lookup.result != LookupResult::kRaises) sections.field("because", lookup.message);
  sections.field("sizes", sizes_text(lookup.sizes));
  sections.field("rules", torch::family_name(lookup.rules));
  std::string counted;
  for (const auto& [name, count] : lookup.counters)
    counted += fmt::format("{}{} {:+}", counted.empty() ? "" : ", ", name, count);
  sections.field("counted", counted);
  sections.title("Candidates");
  write_candidates(sections, lookup);
  for (const replay::GraphLookup& graph : lookup.graphs) {
    sections.title(fmt::format("Its {} graph {}", graph.role, graph.bundled ? "" : graph.found.key));
    sections.field("result", graph.bundled ? "inside the entry" : outcome(graph.found));
    if (!graph.bundled) write_candidates(sections, graph.found);
  }
  sections.title("Logged by the lookup");
  for (const std::string& message : lookup.log) sections.text(message);
  sections.title("Taken for granted by the lookup");
  for (const std::string& assumption : lookup.assumptions) sections.text(assumption);
}

}  // namespace cachetool::report
