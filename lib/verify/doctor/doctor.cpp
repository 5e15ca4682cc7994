#include "verify/doctor/doctor.h"

#include <array>
#include <charconv>

#include "store/paths.h"
#include "verify/doctor/diagnosis.h"
#include "verify/doctor/places.h"
#include "verify/doctor/text_file.h"

namespace cachetool::verify {
namespace {

/// The `Umask:` line of /proc/self/status: asking the system would set it for a moment.
std::optional<std::uint32_t> read_umask(FileSystem& fs) {
  std::optional<std::uint32_t> result;
  for_each_line(read_text(fs, "/proc/self/status").value_or(""), [&](std::string_view line) {
    constexpr std::string_view kLabel = "Umask:";
    if (!line.starts_with(kLabel)) return;
    const std::string_view digits = trimmed(line.substr(kLabel.size()));
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
    if (error == std::errc() && end == digits.data() + digits.size()) result = value;
  });
  return result;
}

Home look_at_home(FileSystem& fs, HostSystem& host, const store::Environment& environment) {
  Home home;
  home.path = environment.home().value_or("");
  if (home.path.empty()) return home;
  const PathWalk walk = walk_path(fs, store::absolute_path(environment, home.path));
  home.usable = walk.exists && host.may_create(walk.real).value_or(true);
  return home;
}

}  // namespace

std::string_view lock_support_name(LockSupport support) {
  constexpr std::array<std::string_view, 3> kNames = {"not tried", "work", "fail"};
  return kNames[static_cast<std::size_t>(support)];
}

DoctorReport examine(FileSystem& fs, HostSystem& host, const store::Environment& environment,
                     const DoctorOptions& options) {
  DoctorReport report;
  report.uid = environment.uid;
  report.choice = choose_cache(fs, environment, options.directory);
  report.places = look_at_places(fs, host, environment, report.choice);
  report.machine = read_machine(fs, host, environment);
  report.software = find_software(fs, environment);
  report.variables = list_variables(environment, report.choice);
  report.home = look_at_home(fs, host, environment);
  report.umask = read_umask(fs);
  report.others = find_other_caches(fs, environment, report.choice.path, options.sizes, options.progress);
  if (options.sizes == Sizes::kMeasure) {
    for (Place& place : report.places)
      if (place.walk.exists && place.role == "cache")
        place.size = measure_tree(fs, place.walk.real, options.progress);
  }
  diagnose(report, environment);
  return report;
}

}  // namespace cachetool::verify
