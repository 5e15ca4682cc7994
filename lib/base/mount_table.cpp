#include "base/mount_table.h"

#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace cachetool {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end != 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// Blanks, tabs, newlines and backslashes stand as `\` and three octal digits.
std::string unescape(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto is_octal = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(i + 1) && is_octal(i + 2) && is_octal(i + 3)) {
      const int value = (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0');
      result += static_cast<char>(value);
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::optional<std::uint64_t> parse_device(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto number = [](std::string_view digits) -> std::optional<unsigned> {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  };
  const auto major_number = number(text.substr(0, colon));
  const auto minor_number = number(text.substr(colon + 1));
  if (!major_number || !minor_number) return std::nullopt;
  return gnu_dev_makedev(*major_number, *minor_number);
}

std::vector<std::string> options_of(std::string_view text) {
  std::vector<std::string> result;
  for (const std::string_view option : split(text, ',')) result.push_back(unescape(option));
  return result;
}

/// `36 35 98:0 /root /mnt rw,noatime master:1 - ext3 /dev/root rw,errors=continue`
std::optional<Mount> parse_line(std::string_view line) {
  const auto fields = split(line, ' ');
  const auto dash = std::find(fields.begin(), fields.end(), "-");
  if (dash - fields.begin() < 6 || fields.end() - dash < 4) return std::nullopt;
  const auto device = parse_device(fields[2]);
  if (!device || !fields[4].starts_with('/')) return std::nullopt;
  Mount mount;
  mount.device = *device;
  mount.point = unescape(fields[4]);
  mount.options = options_of(fields[5]);
  mount.type = unescape(dash[1]);
  mount.source = unescape(dash[2]);
  mount.super_options = options_of(dash[3]);
  return mount;
}

bool lies_on(const Mount& mount, std::string_view path) {
  if (mount.point == "/") return true;
  return path.starts_with(mount.point) &&
         (path.size() == mount.point.size() || path[mount.point.size()] == '/');
}

}  // namespace

bool Mount::has_option(std::string_view name) const {
  const auto is_it = [&](const std::string& option) {
    return option.starts_with(name) && (option.size() == name.size() || option[name.size()] == '=');
  };
  return std::any_of(options.begin(), options.end(), is_it) ||
         std::any_of(super_options.begin(), super_options.end(), is_it);
}

std::vector<Mount> parse_mount_table(std::string_view text) {
  std::vector<Mount> mounts;
  for (const std::string_view line : split(text, '\n'))
    if (auto mount = parse_line(line)) mounts.push_back(std::move(*mount));
  return mounts;
}

const Mount* mount_of(const std::vector<Mount>& mounts, std::string_view path, std::uint64_t device) {
  const Mount* best = nullptr;
  for (const bool same_device : {true, false}) {
    for (const Mount& mount : mounts) {
      if (!lies_on(mount, path) || (same_device && mount.device != device)) continue;
      if (best == nullptr || mount.point.size() >= best->point.size()) best = &mount;
    }
    if (best != nullptr) break;
  }
  return best;
}

}  // namespace cachetool
