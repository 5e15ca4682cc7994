#include "verify/source_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "store/entry_links.h"
#include "verify/source_checks.h"
#include "verify/source_text.h"
#include "verify/structure_checks.h"
#include "verify/template_extra.h"

namespace cachetool::verify {
namespace {

/// Position of the first byte that Python and C++ compilers refuse in a source: no UTF-8, or NUL.
std::size_t find_bad_byte(std::string_view text) {
  return std::min(find_invalid_utf8(text, Surrogates::kRejected), text.find('\0'));
}

/// The text of a source that is neither empty nor binary; what is wrong else goes to `report`. `outcome` is
/// what comes of it.
Expected<std::optional<std::string_view>> read_source(FileInput& input, FileReport& report,
                                                      std::string_view outcome) {
  std::optional<std::string_view> nothing;
  if (input.stat().size == 0) {
    report.found(checks::kFileEmpty,
                 {.message = fmt::format("the file is empty; {}", outcome), .repair = {report.path()}});
    return nothing;
  }
  report.fine(checks::kFileEmpty);
  if (input.depth() == Depth::kQuick) return nothing;
  auto text = input.whole();
  if (!text) return tl::unexpected(std::move(text.error()));
  const std::size_t bad = find_bad_byte(*text);
  if (bad != std::string_view::npos) {
    report.found(
        checks::kFileEncoding,
        {.message = fmt::format("not UTF-8 text; {}", outcome), .offset = bad, .repair = {report.path()}});
    return nothing;
  }
  report.fine(checks::kFileEncoding);
  return std::optional<std::string_view>(*text);
}

std::string misnamed(const torch::HashName& actual) {
  return fmt::format("its text is named {}", actual.str());
}

/// Whether the module's name is its text's, with what a max-autotune candidate has behind it.
bool fits_candidate(std::string_view text, const torch::HashName& name) {
  const std::string_view core = torch::python_strip(text);
  for (const std::string& extra : template_extras(text))
    if (torch::code_hash(core, extra) == name) return true;
  return false;
}

/// cpu_vec_isa.py builds functions of such names to see what compiler and processor can do.
bool is_isa_probe(std::string_view text) {
  return text.find("_chk_kernel") != std::string_view::npos &&
         text.find("Python bindings") == std::string_view::npos;
}

}  // namespace

Expected<Facts> check_python_module(FileInput& input, FileReport& report) {
  auto text = read_source(input, report, "torch runs the file as it is, and fails");
  if (!text) return tl::unexpected(std::move(text.error()));
  if (!*text) return Facts{};
  ModuleFacts facts;
  facts.content = source_text(**text);
  facts.is_triton_kernel = (*text)->find("\n@triton.jit") != std::string_view::npos &&
                           (*text)->find("\ndef call(") == std::string_view::npos;
  const auto& name = input.file().hash;
  if (!name) return Facts(facts);
  if (*name == facts.content.name) {
    report.fine(checks::kModuleName);
  } else if (is_template_candidate(**text)) {
    if (template_extras(**text).empty()) {
      report.not_checkable(checks::kModuleName,
                           "up to torch 2.8 a max-autotune candidate doesn't hold what it is named after");
    } else if (fits_candidate(**text, *name)) {
      report.fine(checks::kModuleName);
    } else {
      facts.is_named_right = false;
    }
  } else {
    facts.is_named_right = false;
  }
  if (!facts.is_named_right) {
    report.found(checks::kModuleName, {.message = misnamed(facts.content.name), .repair = {report.path()}});
  }
  return Facts(facts);
}

Expected<Facts> check_cpp_source(FileInput& input, FileReport& report) {
  auto text = read_source(input, report, "torch builds what the file holds once the library is gone");
  if (!text) return tl::unexpected(std::move(text.error()));
  if (!*text) return Facts{};
  CppSourceFacts facts;
  facts.fingerprint = store::file_fingerprint(**text);
  facts.is_isa_probe = is_isa_probe(**text);
  Sha256Stream stream;
  stream.update(torch::python_strip(**text));
  stream.update("||");
  facts.named_after = std::move(stream);
  return Facts(std::move(facts));
}

Expected<Facts> check_header(FileInput& input, FileReport& report) {
  auto text = read_source(input, report, "kernels that include it don't compile");
  if (!text) return tl::unexpected(std::move(text.error()));
  if (!*text) return Facts{};
  const auto& name = input.file().hash;
  if (!name) {  // those of `precompiled_headers/`
    report.not_checkable(checks::kHeaderName,
                         "a precompiled header is named after the compiler and its command too");
    return Facts{};
  }
  const torch::HashName actual = torch::code_hash(torch::python_strip(**text));
  if (*name == actual) {
    report.fine(checks::kHeaderName);
  } else {
    report.found(checks::kHeaderName, {.message = misnamed(actual), .repair = {report.path()}});
  }
  return Facts{};
}

}  // namespace cachetool::verify
