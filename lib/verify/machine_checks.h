#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "container/cubin.h"
#include "verify/check.h"
#include "verify/file_report.h"
#include "verify/target_machine.h"

namespace cachetool::verify {

namespace checks {
extern const Check kBinaryMachine;
extern const Check kBinaryProcessor;
extern const Check kBinaryLibrary;
extern const Check kBinaryVersion;
extern const Check kBinarySymbol;
extern const Check kLauncherPython;
extern const Check kCubinDevice;
extern const Check kCubinKernel;
extern const Check kCubinThreads;
extern const Check kTensorStorage;
}  // namespace checks

/// What `--deep` and `--against` look at: symbols, versions, processor and GPU.
CheckGroup machine_checks();

/// Judges a whole shared object of a cache against what of `target` is set: machine, processor, libraries,
/// versions, symbols. A file that is no whole ELF file is left to the checks of its structure. Programs that
/// only test whether an instruction set works (VecISA of torch/_inductor/cpu_vec_isa.py) are not judged by
/// what they test, and what they lack is a warning.
void judge_shared_object(std::string_view bytes, const TargetMachine& target, FileReport& report);

/// Judges the name of a module that only the Python which made it loads: `….cpython-311-x86_64-linux-gnu.so`.
void judge_python_tag(std::string_view name, const TargetMachine& target, FileReport& report);

/// Judges a cubin against the GPUs of `target`. `member` names it inside the file that is reported on; empty
/// for that file itself.
void judge_cubin(const container::Cubin& cubin, std::string_view member, const TargetMachine& target,
                 FileReport& report);

/// What a kernel's metadata says: triton/compiler/compiler.py, `<kernel>.json`.
struct KernelMetadata {
  std::string_view name;
  std::optional<std::int64_t> num_warps;
  std::int64_t warp_size = 32;
};

/// Whether a cubin with these kernels holds the one that its metadata names, compiled for as many threads.
/// `repair`: what the findings propose to move away.
void compare_kernels(std::span<const container::CubinKernel> kernels, const KernelMetadata& metadata,
                     std::string_view member, FileReport& report, std::vector<std::string> repair = {});

}  // namespace cachetool::verify
