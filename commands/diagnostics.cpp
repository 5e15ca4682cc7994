#include "commands/diagnostics.h"

#include "base/json_writer.h"
#include "base/text.h"

namespace cachetool::commands {
namespace {

void write_json_error(OutputSink& sink, const Error& error) {
  JsonWriter json(sink);
  json.begin_object();
  json.member("schema", "cachetool.error/1");
  json.key("error");
  json.begin_object();
  json.member("code", code_name(error.code));
  json.member("message", error.message);
  if (!error.path.empty()) json.member("path", error.path);
  if (error.offset) json.member("offset", *error.offset);
  if (!error.hint.empty()) json.member("hint", error.hint);
  json.end_object();
  json.end_object();
  json.flush();
  sink.write("\n");
}

// A hint's lines, each escaped and indented.
void write_hint(OutputSink& sink, std::string_view hint) {
  while (!hint.empty()) {
    const std::size_t end = hint.find('\n');
    sink.write("  " + escape_for_terminal(hint.substr(0, end)) + "\n");
    hint.remove_prefix(end == std::string_view::npos ? hint.size() : end + 1);
  }
}

}  // namespace

ExitCode report_error(Context& context, const Error& error, ErrorForm form) {
  if (form == ErrorForm::kJson) {
    write_json_error(context.error, error);
  } else {
    context.error.write("cachetool: " + describe(error) + "\n");
    write_hint(context.error, error.hint);
  }
  return exit_code_for(error.code);
}

}  // namespace cachetool::commands
