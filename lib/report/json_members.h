#pragma once

#include <string_view>

#include "base/json_writer.h"

namespace cachetool::report {

/// A text member; null where the text is empty: what isn't known is said so.
inline void text_or_null(JsonWriter& json, std::string_view name, std::string_view text) {
  json.key(name);
  text.empty() ? json.null() : json.string(text);
}

}  // namespace cachetool::report
