#include "verify/state_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "pickle/document.h"
#include "torch/key.h"
#include "torch/plain.h"
#include "verify/entry_checks.h"
#include "verify/pickle_ends.h"
#include "verify/pickle_problems.h"
#include "verify/source_checks.h"
#include "verify/structure_checks.h"

namespace cachetool::verify {
namespace {

/// Reads the pickle and says what is wrong with its form; `is_right` looks at its root.
template <class IsRight>
Status check_pickle(FileInput& input, FileReport& report, std::string_view wanted, IsRight&& is_right) {
  const auto say = [&](Problem problem) {
    problem.text.repair = {report.path()};
    report.found(*problem.check, std::move(problem.text), Severity::kWarning);
  };
  if (input.depth() == Depth::kQuick || input.stat().size == 0) {
    auto checked = check_pickle_ends(input, report);
    if (!checked) return tl::unexpected(std::move(checked.error()));
    return {};
  }
  auto bytes = input.whole();
  if (!bytes) return tl::unexpected(std::move(bytes.error()));
  Budget budget = input.options().limits.budget(bytes->size());
  const auto document = pickle::parse(*bytes, budget);
  if (!document) {
    auto problem = pickle_failure(document.error(), 0);
    if (!problem) return tl::unexpected(document.error());
    say(std::move(*problem));
    return {};
  }
  report.fine(checks::kPickleTruncated);
  report.fine(checks::kPickleMalformed);
  if (!is_right(document->root())) {
    say({&checks::kPickleRootType, {.message = fmt::format("the pickle holds no {}", wanted), .offset = 0}});
    return {};
  }
  report.fine(checks::kPickleRootType);
  auto problem = trailing_bytes(*document, 0);
  if (!problem) problem = pickle_deviation(*document, 0);
  if (problem) {
    say(std::move(*problem));
  } else {
    report.fine(checks::kPickleTrailingBytes);
    report.fine(checks::kPickleDeviation);
  }
  return {};
}

/// One time as Python's float() takes it, without underscores.
bool is_number(std::string_view text) {
  if (text == "inf" || text == "-inf" || text == "nan") return true;
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc{} && result.ptr == text.data() + text.size();
}

}  // namespace

Expected<Facts> check_pgo_state(FileInput& input, FileReport& report) {
  const auto checked = check_pickle(input, report, "profile of code objects", [](const pickle::Value& root) {
    return torch::dict_view(root).has_value();
  });
  if (!checked) return tl::unexpected(checked.error());
  return Facts{};
}

Expected<Facts> check_precompile(FileInput& input, FileReport& report) {
  const auto checked = check_pickle(input, report, "precompiled function", [](const pickle::Value& root) {
    const pickle::GlobalNode* cls = torch::class_of(root);
    return cls != nullptr && cls->module.starts_with("torch._dynamo.");
  });
  if (!checked) return tl::unexpected(checked.error());
  return Facts{};
}

Expected<Facts> check_kernel_perf(FileInput& input, FileReport& report) {
  auto text = input.head(256);
  if (!text) return tl::unexpected(std::move(text.error()));
  std::string_view rest = torch::python_strip(*text);
  std::size_t numbers = 0;
  bool right = input.stat().size <= 256;
  while (right && !rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    right = is_number(rest.substr(0, end)) && ++numbers <= 2;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (right && numbers > 0) {
    report.fine(checks::kKernelPerf);
    return Facts{};
  }
  report.found(checks::kKernelPerf, {.message = "no time in it, so torch raises when it looks for one",
                                     .repair = {report.path()}});
  return Facts{};
}

}  // namespace cachetool::verify
