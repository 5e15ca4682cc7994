#include "commands/replay_constants.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <utility>

#include "base/text.h"
#include "commands/diagnostics.h"
#include "store/environment.h"

namespace cachetool::commands {

void add_constants_option(CLI::App& command, std::string& path) {
  command
      .add_option(
          "--constants", path,
          "Values of frozen parameters: .safetensors, .npz, torch.save's file, or a directory of .npy")
      ->check(not_empty("--constants is empty"))
      ->type_name("FILE|DIR");
}

Status GivenConstants::read(Context& context, const CommonOptions& options, const std::string& path) {
  if (path.empty()) return {};
  path_ = path;
  replay::SuppliedLimits limits;
  limits.max_memory = options.max_memory;
  const std::string place = store::absolute_path(context.environment, path);
  auto values = replay::SuppliedValues::load(context.files, place, limits);
  if (!values) {
    Error error = std::move(values.error());
    if (error.path.starts_with(place)) error.path = path + error.path.substr(place.size());
    return tl::unexpected<Error>(std::move(error));
  }
  values_ = std::move(*values);
  return {};
}

void GivenConstants::add(const replay::GraphReplay& graph) {
  if (!values_) return;
  ++graphs_;
  bool frozen = false;
  bool fits = true;
  for (const replay::ConstantRow& row : graph.constants.rows) {
    if (!row.frozen) continue;
    frozen = true;
    named_ = named_ || row.state != replay::ConstantState::kMissing;
    fits = fits && row.state == replay::ConstantState::kSupplied;
  }
  frozen_ += frozen ? 1 : 0;
  fitting_ += frozen && fits ? 1 : 0;
}

ExitCode GivenConstants::finish(Context& context, ErrorForm form) const {
  if (!values_ || graphs_ == 0) return ExitCode::kDone;
  if (fitting_ != 0) {
    // A table of many graphs has no room for constants, and JSON has them anyway.
    if (fitting_ < frozen_ && form == ErrorForm::kText)
      context.error.write(fmt::format("{}: the constants fit {} of {} graphs that have frozen parameters\n",
                                      escape_for_terminal(path_), fitting_, frozen_));
    return ExitCode::kDone;
  }
  Error error;
  error.code = ErrorCode::kWrongType;
  error.path = path_;
  if (frozen_ == 0) {
    error.message = "no graph here takes constants: none has frozen parameters";
  } else {
    error.message = "the constants fit no graph here";
    error.hint = named_ ? "the entry tells which are missing or don't fit, and torch code that saves them all"
                        : "names of frozen parameters are synthetic, so the values of a state dict can't be "
                          "bound to them;\n"
                          "the entry tells what is expected, and torch code that saves it";
  }
  return report_error(context, error, form);
}

}  // namespace cachetool::commands
