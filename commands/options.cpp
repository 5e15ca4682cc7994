#include "commands/options.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "base/units.h"

namespace cachetool::commands {

std::function<std::string(const std::string&)> not_empty(std::string problem) {
  return [problem = std::move(problem)](const std::string& text) {
    return text.empty() ? problem : std::string();
  };
}

void add_common_options(CLI::App& command, CommonOptions& options, OffersCsv csv) {
  command
      .add_option("--cache-dir", options.cache_dir,
                  "The cache; default: $TORCHINDUCTOR_CACHE_DIR, else torch's own for this user")
      ->check(not_empty("an empty path names no cache"))
      ->type_name("DIR");
  auto* json = command.add_flag("--json", options.json, "One JSON document");
  auto* jsonl = command.add_flag("--jsonl", options.jsonl, "JSON, one line for each item")->excludes(json);
  if (csv == OffersCsv::kYes) {
    command.add_flag("--csv", options.csv, "Comma separated values")->excludes(json)->excludes(jsonl);
  }
  command.add_flag("--bytes", options.exact_bytes, "Sizes as exact numbers of bytes");
  command.add_flag("--full", options.full, "Keys and names in full");
  command.add_option("--color", options.color, "auto, always or never; auto heeds NO_COLOR")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
  command.add_option("--threads", options.threads, "Worker threads; 0: one for each processor")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  command
      .add_option_function<std::string>(
          "--max-memory",
          [&options](const std::string& text) { options.max_memory = parse_size(text).value_or(0); },
          "Memory for decoding one entry; default: 64 times its size and 4 MiB")
      ->check([](const std::string& text) {
        const auto size = parse_size(text);
        if (!size) return size.error().message;
        return *size == 0 ? std::string("must be more than 0") : std::string();
      })
      ->type_name("SIZE");
}

ErrorForm error_form(const CommonOptions& options) {
  return options.json || options.jsonl ? ErrorForm::kJson : ErrorForm::kText;
}

report::Format format_of(const CommonOptions& options) {
  if (options.json) return report::Format::kJson;
  if (options.jsonl) return report::Format::kJsonLines;
  if (options.csv) return report::Format::kCsv;
  return report::Format::kHuman;
}

report::Look look_of(const CommonOptions& options, const Context& context) {
  report::Look look;
  look.width = context.terminal.width;
  look.palette = report::Palette(choose_colors(options.color, context.terminal.out));
  look.sizes = options.exact_bytes ? report::Sizes::kExact : report::Sizes::kRounded;
  look.names = options.full ? report::Names::kFull : report::Names::kShort;
  return look;
}

}  // namespace cachetool::commands
