#pragma once

#include <string>
#include <string_view>

namespace cachetool {

/// True for names of environment variables and options whose value is a secret: those that contain KEY,
/// TOKEN, SECRET, PASS or CREDENTIAL as a word or a word's end (VLLM_API_KEY, HF_TOKEN), in any case.
bool is_secret_name(std::string_view name);

/// The value as it may be printed: "[redacted]" where `name` is a secret's, else `value` with the user info
/// of URLs
/// (`https://user:pass@host`) masked.
std::string redact_value(std::string_view name, std::string_view value);

}  // namespace cachetool
