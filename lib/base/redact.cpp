#include "base/redact.h"

#include <cctype>

#include "base/text.h"

namespace cachetool {
namespace {

constexpr std::string_view kMask = "[redacted]";

bool is_upper(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}
bool is_lower(char c) {
  return std::islower(static_cast<unsigned char>(c)) != 0;
}
bool is_alnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

/// `word` is in upper case.
bool is_secret_word(std::string_view word) {
  while (!word.empty() && is_digit(word.back())) word.remove_suffix(1);
  for (const std::string_view start : {"PASSWORD", "PASSWD", "PASSPHRASE"}) {
    if (word.find(start) != std::string_view::npos) return true;
  }
  for (const std::string_view end : {"KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL"}) {
    if (word.ends_with(end)) return true;
    if (word.ends_with('S') && word.substr(0, word.size() - 1).ends_with(end)) return true;
  }
  return false;
}

bool ends_authority(char c) {
  return c == '/' || c == '?' || c == '#' || c == '"' || c == '\'' || c == '<' || c == '>' || c == '\\' ||
         std::isspace(static_cast<unsigned char>(c)) != 0;
}

}  // namespace

bool is_secret_name(std::string_view name) {
  std::string word;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool starts_hump = i > 0 && is_upper(name[i]) && is_lower(name[i - 1]);
    if (!is_alnum(name[i]) || starts_hump) {
      if (is_secret_word(word)) return true;
      word.clear();
    }
    if (is_alnum(name[i])) word += static_cast<char>(std::toupper(static_cast<unsigned char>(name[i])));
  }
  return is_secret_word(word);
}

std::string redact_value(std::string_view name, std::string_view value) {
  if (is_secret_name(name)) return std::string(kMask);
  constexpr std::string_view kSeparator = "://";
  std::string out;
  std::size_t position = 0;
  for (;;) {
    const std::size_t found = value.find(kSeparator, position);
    if (found == std::string_view::npos) break;
    const std::size_t start = found + kSeparator.size();
    std::size_t end = start;
    while (end < value.size() && !ends_authority(value[end])) ++end;
    const std::size_t at = value.substr(start, end - start).rfind('@');
    out.append(value.substr(position, start - position));
    position = start;
    if (at != std::string_view::npos) {
      out.append(kMask);
      position += at;
    }
  }
  out.append(value.substr(position));
  return out;
}

}  // namespace cachetool
