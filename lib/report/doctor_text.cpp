#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/doctor_report.h"
#include "report/section.h"
#include "torch/release.h"

namespace cachetool::report {
namespace {

using verify::DoctorReport;
using verify::Place;
using verify::Severity;

using Rows = std::vector<std::vector<Cell>>;

std::uint64_t count(const DoctorReport& report, Severity severity) {
  return static_cast<std::uint64_t>(
      std::count_if(report.findings.begin(), report.findings.end(),
                    [&](const verify::Finding& finding) { return finding.severity == severity; }));
}

void write_verdict(SectionWriter& sections, const DoctorReport& report) {
  const std::uint64_t errors = count(report, Severity::kError);
  const std::uint64_t warnings = count(report, Severity::kWarning);
  if (errors != 0) {
    sections.field("verdict", fmt::format("not a good place: {}", counted(errors, "error", "errors")),
                   Style::kBad);
  } else if (warnings != 0) {
    sections.field("verdict",
                   fmt::format("works, with reservations: {}", counted(warnings, "warning", "warnings")),
                   Style::kWarning);
  } else {
    sections.field("verdict", "a good place", Style::kGood);
  }
}

void write_choice(SectionWriter& sections, const DoctorReport& report) {
  const verify::CacheChoice& choice = report.choice;
  sections.field("because", choice.why);
  const bool is_simple = choice.outcomes.size() == 1 && choice.outcomes[0].path == choice.path;
  if (is_simple) return;
  for (const verify::Outcome& outcome : choice.outcomes) {
    sections.field("torch " + torch::family_range(outcome.first, outcome.last),
                   outcome.path.empty() ? outcome.failure : outcome.path,
                   outcome.path.empty() ? Style::kBad : Style::kPlain);
  }
}

std::string volume_text(const verify::Volume& volume) {
  std::string text = volume.type.empty() ? "unknown" : volume.type;
  if (!volume.source.empty() && volume.source != volume.type) text += " on " + volume.source;
  if (!volume.mount_point.empty()) text += ", mounted at " + volume.mount_point;
  if (!volume.options.empty()) text += fmt::format(" ({})", fmt::join(volume.options, ","));
  return text;
}

std::string space_text(const SpaceInfo& space, const Look& look) {
  std::string text = fmt::format("{} of {}", look.size(space.free_bytes), look.size(space.total_bytes));
  if (space.total_inodes != 0) text += fmt::format(", {} more files", space.free_inodes);
  return text;
}

std::string state_text(const Place& place, const Look& look) {
  if (!place.walk.exists) return "isn't there yet; what lies above it is " + place.walk.existing;
  if (!place.size) return "exists";
  return fmt::format("{}, {}{}", counted(place.size->files, "file", "files"), look.size(place.size->bytes),
                     place.size->complete ? "" : " (not all of it could be listed)");
}

void write_place(SectionWriter& sections, const Place& place) {
  const Look& look = sections.look();
  sections.field("state", state_text(place, look));
  if (place.walk.real != place.path) sections.field("without links", place.walk.real, Style::kName);
  if (place.volume) {
    sections.field("file system", volume_text(*place.volume));
    sections.field("free", space_text(place.volume->space, look));
  }
  if (const FileStat* stat = place.walk.existing_stat())
    sections.field(place.walk.exists ? "owner" : "owner above",
                   fmt::format("user {}, group {}, mode {:04o}", stat->uid, stat->gid, stat->mode));
  if (place.may_create) sections.field("may be written", *place.may_create ? "yes" : "no");
  std::string locks(verify::lock_support_name(place.locks));
  if (!place.lock_file.empty()) locks += " (tried on " + place.lock_file + ")";
  sections.field("file locks", locks);
}

struct SeverityLook {
  Severity severity;
  const char* title;
  Style style;
};
constexpr SeverityLook kSeverities[] = {{Severity::kError, "Errors", Style::kBad},
                                        {Severity::kWarning, "Warnings", Style::kWarning},
                                        {Severity::kInfo, "Worth knowing", Style::kFaint}};

void write_findings(SectionWriter& sections, const DoctorReport& report, const SeverityLook& how) {
  sections.title(how.title);
  for (const verify::Finding& finding : report.findings) {
    if (finding.severity != how.severity) continue;
    sections.field(finding.check->id, finding.path.empty() ? "the environment" : finding.path, how.style);
    sections.text("  " + finding.message);
    sections.text("  → " + finding.hint);
  }
}

void write_other_places(SectionWriter& sections, const DoctorReport& report) {
  for (std::size_t i = 1; i < report.places.size(); ++i) {
    const Place& place = report.places[i];
    sections.title("Also in use: " + place.path);
    sections.field("because", place.why);
    write_place(sections, place);
  }
}

void write_caches(SectionWriter& sections, const DoctorReport& report) {
  Rows rows;
  for (const verify::OtherCache& other : report.others) {
    const bool measured = other.size.has_value();
    rows.push_back({{other.kind},
                    {other.path, Style::kName},
                    {measured ? std::to_string(other.size->files) : "?"},
                    {measured ? sections.look().size(other.size->bytes) : "?"},
                    {other.why, Style::kFaint}});
  }
  sections.title("Other caches of this user");
  sections.table({{"KIND"},
                  {"PATH", Align::kLeft, 20},
                  {"FILES", Align::kRight},
                  {"SIZE", Align::kRight},
                  {"WHY", Align::kLeft, 8, 1}},
                 std::move(rows));
}

void write_machine(SectionWriter& sections, const DoctorReport& report) {
  const verify::Machine& machine = report.machine;
  sections.title("Machine");
  sections.field("processor", machine.cpu.model.empty()
                                  ? machine.cpu.architecture
                                  : fmt::format("{} ({})", machine.cpu.model, machine.cpu.architecture));
  sections.field("features", fmt::format("{}", fmt::join(machine.cpu.usable.names(), " ")));
  sections.field("switched off", fmt::format("{}", fmt::join(machine.cpu.disabled.names(), " ")),
                 Style::kWarning);
  for (const verify::VectorChoice& choice : machine.vector_isa)
    sections.field("CPU kernels",
                   fmt::format("{} (torch {})", choice.isa, torch::family_range(choice.first, choice.last)));
  for (const verify::Gpu& gpu : machine.gpus)
    sections.field(
        "GPU", fmt::format("{}{}{} at {}", gpu.vendor, gpu.model.empty() ? "" : " ", gpu.model, gpu.address));
  if (machine.gpus.empty()) sections.field("GPU", "none found");
  sections.field("NVIDIA driver", machine.nvidia_driver);
  sections.field("device nodes", fmt::format("{}", fmt::join(machine.device_nodes, " ")));
  sections.field("Linux", machine.kernel);
  if (report.umask) sections.field("umask", fmt::format("{:03o}", *report.umask));
}

void write_software(SectionWriter& sections, const DoctorReport& report) {
  Rows rows;
  for (const verify::Package& package : report.software.packages) {
    const std::string version =
        package.backend.empty() ? package.version : fmt::format("{} ({})", package.version, package.backend);
    rows.push_back({{package.name}, {version}, {package.path, Style::kName}, {package.from, Style::kFaint}});
  }
  for (const verify::Program& program : report.software.programs) {
    rows.push_back({{program.use},
                    {program.name},
                    {program.path.empty() ? "not found" : program.path, Style::kName},
                    {program.from, Style::kFaint}});
  }
  sections.title("Software");
  sections.table({{"WHAT"}, {"VERSION"}, {"PATH", Align::kLeft, 20}, {"FROM", Align::kLeft, 8, 1}},
                 std::move(rows));
}

void write_variables(SectionWriter& sections, const DoctorReport& report) {
  Rows rows;
  for (const verify::Variable& variable : report.variables) {
    const Style style = variable.source == verify::ValueSource::kSet ? Style::kPlain : Style::kFaint;
    const std::string source = variable.source == verify::ValueSource::kTorch
                                   ? "torch sets it"
                                   : std::string(value_source_name(variable.source));
    rows.push_back({{variable.name, Style::kName},
                    {variable.value, style},
                    {source, style},
                    {std::string(variable.meaning), Style::kFaint}});
  }
  sections.title("Variables in force");
  sections.table({{"NAME"}, {"VALUE", Align::kLeft, 16}, {"SOURCE"}, {"", Align::kLeft, 12, 1}},
                 std::move(rows));
}

}  // namespace

std::string_view verdict_name(const DoctorReport& report) {
  if (count(report, Severity::kError) != 0) return "unsuitable";
  return count(report, Severity::kWarning) != 0 ? "reservations" : "good";
}

void write_doctor(OutputSink& sink, const DoctorReport& report, Format format, const Look& look) {
  if (format == Format::kHuman) return write_doctor_text(sink, report, look);
  write_doctor_json(sink, report, format == Format::kJson ? JsonStyle::kIndented : JsonStyle::kCompact);
}

void write_doctor_text(OutputSink& sink, const DoctorReport& report, const Look& look) {
  SectionWriter sections(sink, look);
  sections.title("Place " + report.choice.path);
  write_verdict(sections, report);
  write_choice(sections, report);
  write_place(sections, report.places[0]);
  for (const SeverityLook& severity : kSeverities) write_findings(sections, report, severity);
  sections.title("Not checked");
  for (const verify::NotChecked& open : report.not_checked) sections.field(open.check->id, open.reason);
  write_other_places(sections, report);
  write_caches(sections, report);
  write_machine(sections, report);
  write_software(sections, report);
  write_variables(sections, report);
}

}  // namespace cachetool::report
