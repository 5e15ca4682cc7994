// The policy over whatever decodes, with a small budget.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "pickle/policy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cachetool;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Budget budget = Budget::for_input(size);
  const auto document = pickle::parse(bytes, budget);
  if (!document) return 0;
  const auto report = pickle::judge(*document, budget);
  const bool found = report.total_findings > 0;
  if (found != (report.verdict != pickle::Verdict::kData)) std::abort();
  if (report.findings.size() > report.total_findings || (!report.complete && !found)) std::abort();
  return 0;
}
