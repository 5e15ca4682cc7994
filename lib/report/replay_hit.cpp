#include <fmt/format.h>

#include "report/replay_sections.h"

namespace cachetool::report {
namespace {

using replay::ConstantRow;
using replay::ConstantState;

std::string bracketed(const std::optional<std::vector<std::int64_t>>& numbers) {
  if (!numbers) return {};
  return fmt::format("[{}]", fmt::join(*numbers, ", "));
}

std::vector<Cell> constant_cells(const ConstantRow& row) {
  return {{row.name, Style::kName},
          {std::string(state_name(row.state)), Style::kBad},
          {row.dtype},
          {bracketed(row.size)},
          {bracketed(row.stride)},
          {row.device},
          {row.problem, Style::kBad}};
}

std::string deltas(const std::vector<std::pair<std::string, std::int64_t>>& counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    text += fmt::format("{}{} {:+}", text.empty() ? "" : ", ", name, count);
  return text;
}

std::string emissions(const Look& look, const std::vector<replay::TritonEmission>& kernels) {
  std::uint64_t emitted = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  for (const replay::TritonEmission& kernel : kernels) {
    if (kernel.shadowed) continue;
    ++emitted;
    files += kernel.files;
    bytes += kernel.bytes;
  }
  std::string text;
  if (emitted != 0)
    text = fmt::format("{} written ({}, {})", counted(emitted, "directory", "directories"),
                       counted(files, "file", "files"), look.size(bytes));
  if (const std::uint64_t there = kernels.size() - emitted; there != 0)
    text += fmt::format("{}{} there already: nothing is written", text.empty() ? "" : ", ",
                        counted(there, "directory is", "directories are"));
  return text;
}

}  // namespace

void write_constant_sections(SectionWriter& sections, const replay::ConstantsReport& report) {
  if (report.rows.empty() && report.superfluous.empty()) return;
  std::array<std::uint64_t, 4> states{};
  std::vector<std::vector<Cell>> wrong;
  for (const ConstantRow& row : report.rows) {
    ++states[static_cast<std::size_t>(row.state)];
    if (row.state == ConstantState::kMissing || row.state == ConstantState::kMisfit)
      wrong.push_back(constant_cells(row));
  }
  sections.title("Constants");
  for (const ConstantState state :
       {ConstantState::kMissing, ConstantState::kMisfit, ConstantState::kStored, ConstantState::kSupplied}) {
    const std::uint64_t count = states[static_cast<std::size_t>(state)];
    const bool bad = state == ConstantState::kMissing || state == ConstantState::kMisfit;
    if (count != 0)
      sections.field(state_name(state), std::to_string(count), bad ? Style::kBad : Style::kPlain);
  }
  for (const std::string& name : report.superfluous)
    sections.field("superfluous", name + ": the graph has no constant of that name", Style::kWarning);
  sections.table({{"NAME", Align::kLeft, 16},
                  {"STATE"},
                  {"DTYPE"},
                  {"SHAPE", Align::kLeft, 10},
                  {"STRIDE", Align::kLeft, 10},
                  {"DEVICE"},
                  {"PROBLEM", Align::kLeft, 16}},
                 std::move(wrong));
  sections.title("To dump what is missing, where the model is loaded");
  sections.text(report.snippet);
}

void write_hit_section(SectionWriter& sections, const replay::OnHit& hit) {
  sections.title("When it is found");
  sections.field("counters", deltas(hit.counter_deltas));
  sections.field("metrics", deltas(hit.metrics_deltas));
  for (const std::string& path : hit.files_written) sections.field("written", path, Style::kName);
  sections.field("Triton cache", emissions(sections.look(), hit.triton));
  if (hit.static_autotuners != 0)
    sections.field("launchers", fmt::format("{} taken from the entry, without Triton",
                                            counted(hit.static_autotuners, "kernel is", "kernels are")));
}

}  // namespace cachetool::report
