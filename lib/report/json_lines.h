#pragma once

#include <string_view>

#include "base/json_writer.h"

namespace cachetool::report {

/// One document on a line of its own, as --jsonl writes each item: `schema`, `type`, and what `members`
/// (called with a JsonWriter inside the open object) adds.
template <class Members>
void write_json_line(OutputSink& sink, std::string_view schema, std::string_view type, Members members) {
  JsonWriter json(sink);
  json.begin_object();
  json.member("schema", schema);
  json.member("type", type);
  members(json);
  json.end_object();
  json.flush();
  sink.write("\n");
}

}  // namespace cachetool::report
