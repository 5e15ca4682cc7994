#pragma once

#include <string>
#include <string_view>

namespace cachetool {

/// True for names of environment variables and options whose value is a secret: those that contain KEY,
/// TOKEN, SECRET, PASS or CREDENTIAL (or their plurals) as a word or a word's end (VLLM_API_KEY, HF_TOKEN,
/// apiKey2), or PASSWORD, PASSWD or PASSPHRASE anywhere, in any case. Words end at anything that is no letter
/// or digit and between `aB`; digits at a word's end don't count.
bool is_secret_name(std::string_view name);

/// The value as it may be printed: "[redacted]" where `name` is a secret's, else `value` with the user info
/// of URLs (`https://user:pass@host`) masked.
std::string redact_value(std::string_view name, std::string_view value);

}  // namespace cachetool
