// Judges pickles for the scripts here: reads length-prefixed pickles from standard input until it ends and
// answers each with a length-prefixed text: the verdict ("malformed" for what doesn't parse, deviates from
// what picklers write or has bytes behind its end), then one line per finding: verdict, depth, base, offset,
// subject, reason. With the argument "expressions" it reads guard expressions instead and answers "accepted",
// or "refused" and why.

#include <cstdint>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "pickle/policy.h"
#include "pickle/sym_expr.h"

namespace {

using namespace cachetool;
using namespace cachetool::pickle;

std::string answer(const std::string& bytes) {
  Budget budget = Budget::for_input(bytes.size());
  PartialDocument part = parse_partly(bytes, budget);
  const PolicyReport report = judge(part.document, budget);
  std::string text(verdict_name(report.verdict));
  if (report.verdict != Verdict::kDangerous && (part.error || !part.document.deviations().empty()))
    text = "malformed";
  if (part.error)
    text += fmt::format("\n{}\t0\t0\t{}\tparse\t{}", code_name(part.error->code),
                        part.error->offset.value_or(0), part.error->message);
  for (const Deviation& deviation : part.document.deviations())
    text += fmt::format("\ndeviation\t0\t0\t{}\t{}\t{}", deviation.offset, deviation_name(deviation.kind),
                        deviation.detail);
  for (const PolicyFinding& finding : report.findings)
    text += fmt::format("\n{}\t{}\t{}\t{}\t{}\t{}", verdict_name(finding.verdict), finding.depth,
                        finding.base, finding.offset, finding.subject, finding.reason);
  return text;
}

std::string answer_expression(const std::string& text) {
  const auto parsed = SymExpr::parse(text);
  if (parsed) return "accepted";
  return fmt::format("refused\n{}\t{}\t{}", code_name(parsed.error().code), parsed.error().offset.value_or(0),
                     parsed.error().message);
}

bool read_exactly(char* to, std::size_t size) {
  return std::fread(to, 1, size, stdin) == size;
}

}  // namespace

int main(int count, char** arguments) {
  const bool expressions = count > 1 && std::string(arguments[1]) == "expressions";
  std::uint32_t size = 0;
  while (read_exactly(reinterpret_cast<char*>(&size), sizeof size)) {
    std::string bytes(size, '\0');
    if (!read_exactly(bytes.data(), size)) return 1;
    const std::string text = expressions ? answer_expression(bytes) : answer(bytes);
    const auto length = static_cast<std::uint32_t>(text.size());
    std::fwrite(&length, sizeof length, 1, stdout);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
  return 0;
}
