#include "verify/binary_files.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "torch/key.h"
#include "verify/damage.h"
#include "verify/elf_tables.h"
#include "verify/json_document.h"
#include "verify/library_exports.h"
#include "verify/machine_checks.h"
#include "verify/structure_checks.h"

namespace cachetool::verify {
namespace {

constexpr std::uint16_t kRelocatable = 1;
constexpr std::uint16_t kSharedType = 3;
constexpr std::uint16_t kMachineAmdGpu = 224;

/// Processors that PyTorch is built for.
bool is_cpu(std::uint16_t machine) {
  constexpr std::array<std::uint16_t, 5> kCpus{container::kMachineX86_64, container::kMachineAArch64,
                                               21,    // 64-bit PowerPC
                                               22,    // S/390
                                               243};  // RISC-V
  return std::find(kCpus.begin(), kCpus.end(), machine) != kCpus.end();
}

/// Judges whether an ELF file is what its place asks for.
bool judge_kind(const FileInput& input, FileReport& report, bool fits, std::string_view wanted,
                const container::ElfHeader& header) {
  if (fits) {
    report.fine(checks::kElfKind);
    return true;
  }
  report_damage(input, report, checks::kElfKind,
                fmt::format("not {}: ELF type {}, machine {}", wanted, header.type, header.machine), 16);
  return false;
}

/// What takes more than the header: the target's GPUs, and with --deep the kernels.
Status look_into_cubin(FileInput& input, FileReport& report, GpuBinaryFacts& facts) {
  const auto bytes = input.whole();
  if (!bytes) return tl::unexpected(bytes.error());
  const auto cubin = container::read_cubin(*bytes);
  if (!cubin) {
    report_damage(input, report, checks::kElfDamaged, cubin.error().message, cubin.error().offset);
    return {};
  }
  if (input.options().machine != nullptr) judge_cubin(*cubin, {}, *input.options().machine, report);
  if (input.depth() != Depth::kDeep) return {};
  facts.has_kernels = true;
  for (const container::CubinKernel& kernel : cubin->kernels)
    facts.kernels.push_back({std::string(kernel.name), kernel.threads});
  return {};
}

/// A cubin or a code object of AMD. Facts where it is one.
Expected<Facts> check_gpu_elf(FileInput& input, FileReport& report, std::string_view suffix) {
  auto tables = read_elf_tables(input, report);
  if (!tables) return tl::unexpected(std::move(tables.error()));
  if (!*tables) return Facts{};
  const container::ElfHeader& header = (*tables)->header;
  const bool cuda = suffix == "cubin";
  const bool fits = header.machine == (cuda ? container::kMachineCuda : kMachineAmdGpu);
  if (!judge_kind(input, report, fits, cuda ? "a cubin" : "an AMD code object", header)) return Facts{};
  GpuBinaryFacts facts{header.cuda_architecture()};
  if (cuda && (input.depth() == Depth::kDeep || input.options().machine != nullptr)) {
    if (auto read = look_into_cubin(input, report, facts); !read) return tl::unexpected(read.error());
  }
  return facts;
}

/// What is looked up in a library: the module's initialiser that Triton's helpers have; for torch any C
/// function, since kernels, probes and candidates each have their own name.
void judge_exports(const FileInput& input, FileReport& report, std::span<const std::string> exported) {
  const auto is_defined = [&](std::string_view wanted) {
    return std::find(exported.begin(), exported.end(), wanted) != exported.end();
  };
  const auto is_c_function = [](std::string_view name) {
    return !name.starts_with("_Z") && name != "_init" && name != "_fini";
  };
  const bool is_triton = input.kind() == store::ArtifactKind::kTritonLauncher ||
                         input.kind() == store::ArtifactKind::kTritonDriver;
  std::string wanted = "any C function";
  bool found = false;
  if (!is_triton) {
    found = std::any_of(exported.begin(), exported.end(), is_c_function) &&
            (!is_defined("kernel") || !input.name().ends_with(".main.so") || is_defined("PyInit_kernel"));
    if (is_defined("kernel")) wanted = "PyInit_kernel";
  } else {
    wanted = "PyInit_" + input.name().substr(0, input.name().find('.'));
    found = is_defined(wanted);
  }
  if (found) return report.fine(checks::kLibraryExports);
  report_damage(input, report, checks::kLibraryExports, fmt::format("it doesn't define {}", wanted));
}

std::string_view suffix_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : name.substr(dot + 1);
}

/// torch/_inductor/codecache.py: write, get_hash (2.6 to 2.14): binaries by the text of Python's repr, after
/// bytes.strip(); texts as sources.
void judge_name(FileInput& input, FileReport& report, std::string_view bytes, bool is_text) {
  const auto& named = input.file().hash;
  if (!named) return report.not_checkable(checks::kBinaryName, "the file isn't named by a hash");
  torch::HashName computed;
  if (is_text) {
    computed = torch::code_hash(torch::python_strip(bytes));
  } else {
    constexpr std::string_view kBlank = " \t\n\r\v\f";
    const std::size_t first = bytes.find_first_not_of(kBlank);
    const std::size_t last = bytes.find_last_not_of(kBlank);
    if (first != std::string_view::npos) bytes = bytes.substr(first, last - first + 1);
    computed = torch::code_hash(python_bytes_repr(bytes));
  }
  if (computed == *named) return report.fine(checks::kBinaryName);
  report_damage(input, report, checks::kBinaryName,
                fmt::format("the content's name would be {}", computed.str()));
}

}  // namespace

Expected<Facts> check_shared_object(FileInput& input, FileReport& report) {
  auto tables = read_elf_tables(input, report);
  if (!tables) return tl::unexpected(std::move(tables.error()));
  if (!*tables) return Facts{};
  const container::ElfHeader& header = (*tables)->header;
  const bool fits = header.type == kSharedType && is_cpu(header.machine);
  if (!judge_kind(input, report, fits, "a shared library", header)) return Facts{};
  if (input.depth() == Depth::kQuick) return Facts{};
  const auto exported = exported_names(input, **tables);
  if (exported) {
    judge_exports(input, report, *exported);
  } else if (exported.error().code == ErrorCode::kMalformed) {
    report_damage(input, report, checks::kElfDamaged, exported.error().message);
  } else {
    return tl::unexpected(exported.error());
  }
  if (const TargetMachine* target = input.options().machine; target != nullptr) {
    judge_python_tag(input.name(), *target, report);
    const auto bytes = input.whole();
    if (!bytes) return tl::unexpected(bytes.error());
    judge_shared_object(*bytes, *target, report);
  }
  return Facts{};
}

Expected<Facts> check_object_file(FileInput& input, FileReport& report) {
  auto tables = read_elf_tables(input, report);
  if (!tables) return tl::unexpected(std::move(tables.error()));
  if (!*tables) return Facts{};
  const container::ElfHeader& header = (*tables)->header;
  judge_kind(input, report, header.type == kRelocatable && is_cpu(header.machine), "an object file", header);
  return Facts{};
}

Expected<Facts> check_gpu_binary(FileInput& input, FileReport& report) {
  const std::string_view suffix = suffix_of(input.name());
  const bool is_elf = suffix == "cubin" || suffix == "hsaco";
  if (!is_elf && suffix != "ptx") {
    if (input.stat().size == 0) report_damage(input, report, checks::kFileEmpty, "the file is empty");
    return Facts{};
  }
  Facts facts;
  if (is_elf) {
    auto checked = check_gpu_elf(input, report, suffix);
    if (!checked) return tl::unexpected(std::move(checked.error()));
    facts = std::move(*checked);
  } else if (input.stat().size == 0) {
    report_damage(input, report, checks::kFileEmpty, "the file is empty");
  }
  if (!report.findings().empty() || input.depth() == Depth::kQuick) return facts;
  const auto bytes = input.whole();
  if (!bytes) return tl::unexpected(bytes.error());
  judge_name(input, report, *bytes, !is_elf);
  return facts;
}

Expected<Facts> check_triton_binary(FileInput& input, FileReport& report) {
  const std::string_view suffix = suffix_of(input.name());
  if (suffix == "cubin" || suffix == "hsaco") return check_gpu_elf(input, report, suffix);
  if (input.stat().size == 0) report_damage(input, report, checks::kFileEmpty, "the file is empty");
  return Facts{};
}

Expected<Facts> check_aoti_file(FileInput& input, FileReport& report) {
  const std::string_view suffix = suffix_of(input.name());
  if (suffix == "so") return check_shared_object(input, report);
  if (suffix == "o") return check_object_file(input, report);
  if (suffix == "cubin" || suffix == "hsaco") return check_gpu_elf(input, report, suffix);
  if (suffix != "json") {
    if (input.stat().size == 0 && suffix == "cpp")
      report_damage(input, report, checks::kFileEmpty, "the file is empty");
    return Facts{};
  }
  auto tree = read_json_document(input, report);
  if (!tree) return tl::unexpected(std::move(tree.error()));
  if (!*tree) return Facts{};
  if ((*tree)->root().is(container::NodeKind::kMap)) {
    report.fine(checks::kFileShape);
  } else {
    report_shape(input, report, "not an object");
  }
  return Facts{};
}

Expected<Facts> check_cute_object(FileInput& input, FileReport& report) {
  if (suffix_of(input.name()) != "o") return Facts{};
  return check_object_file(input, report);
}

Expected<Facts> check_precompiled_header(FileInput& input, FileReport& report) {
  if (input.stat().size == 0) {
    report_damage(input, report, checks::kFileEmpty, "the file is empty");
  } else {
    report.fine(checks::kFileEmpty);
  }
  return Facts{};
}

}  // namespace cachetool::verify
