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

// A state dict may have thousands of names, none of which fits.
void write_superfluous(SectionWriter& sections, const std::vector<std::string>& names) {
  constexpr std::size_t kListed = 8;
  const bool all = names.size() <= kListed + 1 || sections.look().names == Names::kFull;
  const std::size_t listed = all ? names.size() : kListed;
  for (std::size_t i = 0; i < listed; ++i)
    sections.field("superfluous", names[i] + ": the graph has no constant of that name", Style::kWarning);
  if (listed < names.size())
    sections.field("superfluous", fmt::format("{} more (--full lists them)", names.size() - listed),
                   Style::kWarning);
}

std::string deltas(const std::vector<std::pair<std::string, std::int64_t>>& counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    if (count != 0) text += fmt::format("{}{} {:+}", text.empty() ? "" : ", ", name, count);
  return text;
}

// Triton directories by what happens to them.
struct Emitted {
  std::uint64_t written = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t there = 0;
  std::uint64_t open = 0;  // whether they are there can't be known

  void add(const replay::TritonEmission& kernel) {
    if (!kernel.shadowed) {
      ++open;
    } else if (*kernel.shadowed) {
      ++there;
    } else {
      ++written;
      files += kernel.files;
      bytes += kernel.bytes;
    }
  }
};

std::string emissions(const Look& look, const std::vector<replay::TritonEmission>& kernels) {
  Emitted emitted;
  for (const replay::TritonEmission& kernel : kernels) emitted.add(kernel);
  std::vector<std::string> parts;
  if (emitted.written != 0)
    parts.push_back(fmt::format("{} written ({}, {})", counted(emitted.written, "directory", "directories"),
                                counted(emitted.files, "file", "files"), look.size(emitted.bytes)));
  if (emitted.there != 0)
    parts.push_back(counted(emitted.there, "directory is there already", "directories are there already"));
  if (emitted.open != 0)
    parts.push_back(counted(emitted.open, "directory is written", "directories are written") +
                    " where not there");
  return fmt::format("{}", fmt::join(parts, ", "));
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
  write_superfluous(sections, report.superfluous);
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
  sections.field("counted", deltas(hit.counters));
  sections.field("from the entry", deltas(hit.counter_deltas));
  sections.field("metrics", deltas(hit.metrics_deltas));
  for (const std::string& path : hit.files_written) sections.field("written", path, Style::kName);
  sections.field("Triton cache", emissions(sections.look(), hit.triton));
  if (hit.static_autotuners != 0)
    sections.field("launchers", fmt::format("{} taken from the entry, without Triton",
                                            counted(hit.static_autotuners, "kernel is", "kernels are")));
  for (const std::string& kernel : hit.static_missing)
    sections.field("compiled again", kernel + ": its binary isn't there", Style::kWarning);
  if (!hit.files_known) sections.field("", "which files are there can't be known: not all is counted");
}

}  // namespace cachetool::report
