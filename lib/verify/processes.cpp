#include "verify/processes.h"

#include <algorithm>

#include "base/text.h"

namespace cachetool::verify {
namespace {

std::string_view leading_digits(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

}  // namespace

Processes::Processes(FileSystem& fs) : fs_(fs) {
  if (auto proc = fs.open_root("/proc")) proc_ = std::move(*proc);
}

std::optional<bool> Processes::is_running(std::string_view pid) const {
  const auto name = Name::parse(pid);
  // Without its own entry what is mounted there isn't the list of processes.
  if (!proc_ || !name || !fs_.stat(*proc_, *Name::parse("1"))) return std::nullopt;
  const auto stat = fs_.stat(*proc_, *name);
  if (stat) return true;
  if (stat.error().code == ErrorCode::kNotFound) return false;
  return std::nullopt;
}

std::string_view writer_of(std::string_view name) {
  for (const std::string_view prefix : {"tmp.pid_", "model.", "."}) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view digits = leading_digits(name.substr(prefix.size()));
    const std::string_view rest = name.substr(prefix.size() + digits.size());
    if (!digits.empty() && (rest.starts_with('.') || rest.starts_with('_'))) return digits;
  }
  return {};
}

}  // namespace cachetool::verify
