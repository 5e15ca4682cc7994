#include "verify/template_extra.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"

namespace cachetool::verify {
namespace {

constexpr std::size_t kMaxArguments = 256;
constexpr std::size_t kMaxDepth = 64;

/// Position of the quote that closes the one at `at`; npos when there is none.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text[at]) {
      return i;
    }
  }
  return std::string_view::npos;
}

/// End of the expression that starts at `at`: the comma or closing bracket behind it.
std::size_t expression_end(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'' || c == '"') {
      i = string_end(text, i);
      if (i == std::string_view::npos) break;
    } else if (c == '(' || c == '[' || c == '{') {
      if (++depth > kMaxDepth) break;
    } else if (c == ')' || c == ']' || c == '}') {
      if (depth == 0) return i;
      --depth;
    } else if (c == ',' && depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

using Arguments = std::vector<std::pair<std::string_view, std::string_view>>;

/// The pairs of a dict with plain string keys, values as written; nothing for any other text.
std::optional<Arguments> dict_arguments(std::string_view text, std::size_t at) {
  Arguments arguments;
  while (at < text.size() && arguments.size() < kMaxArguments) {
    if (text[at] == '}') return arguments;
    if (text[at] != '\'') return std::nullopt;
    const std::size_t key_end = string_end(text, at);
    if (key_end == std::string_view::npos || text.substr(key_end + 1, 2) != ": ") return std::nullopt;
    const std::size_t end = expression_end(text, key_end + 3);
    if (end == std::string_view::npos) return std::nullopt;
    arguments.emplace_back(text.substr(at + 1, key_end - at - 1),
                           text.substr(key_end + 3, end - key_end - 3));
    at = end;
    if (text[at] == ',') at += 2;
  }
  return std::nullopt;
}

/// The number of a line `name=5,`.
std::optional<std::string_view> number_line(std::string_view head, std::string_view name) {
  const std::string mark = fmt::format("\n{}=", name);
  const std::size_t at = head.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = head.substr(at + mark.size());
  rest = rest.substr(0, rest.find_first_not_of("0123456789"));
  if (rest.empty()) return std::nullopt;
  return rest;
}

}  // namespace

bool is_template_candidate(std::string_view text) {
  return text.starts_with('\n') && text.find("\n@triton_heuristics.template(") != std::string_view::npos;
}

std::vector<std::string> template_extras(std::string_view text) {
  const std::size_t begin = text.find("\n@triton_heuristics.template(");
  if (begin == std::string_view::npos) return {};
  const std::string_view head = text.substr(begin, text.find("\n@triton.jit", begin) - begin);
  constexpr std::string_view kMark = "'config_args': {";
  const std::size_t found = head.find(kMark);
  const auto stages = number_line(head, "num_stages");
  const auto warps = number_line(head, "num_warps");
  if (found == std::string_view::npos || !stages || !warps) return {};
  auto arguments = dict_arguments(head, found + kMark.size());
  if (!arguments) return {};
  std::sort(arguments->begin(), arguments->end());
  std::string extra;
  for (const auto& [name, value] : *arguments) extra += fmt::format("{}={}-", name, value);
  extra += fmt::format("num_stages={}-num_warps={}-", *stages, *warps);
  std::string specialised = fmt::format("{}num_consumer_groups={}-num_buffers_warp_spec={}-", extra,
                                        number_line(head, "num_consumer_groups").value_or("0"),
                                        number_line(head, "num_buffers_warp_spec").value_or("0"));
  return {std::move(extra), std::move(specialised)};
}

}  // namespace cachetool::verify
