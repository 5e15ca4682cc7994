#include "verify/compile_commands.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace cachetool::verify {
namespace {

/// What changed in the command from release to release.
struct Form {
  std::string_view definitions;  ///< between those that all releases have
  std::string_view before;       ///< flags in front of those for optimisation
  std::string_view optimise;
  std::string_view behind;  ///< and behind them
  std::string_view language;
  std::string_view abi;
  std::string_view libraries;
};

constexpr std::string_view kMath28 =
    "-fno-trapping-math -funsafe-math-optimizations -ffinite-math-only -fno-signed-zeros -fno-math-errno "
    "-fexcess-precision=fast -fno-finite-math-only -fno-unsafe-math-optimizations -ffp-contract=off";
constexpr std::string_view kMath29 =
    "-fno-trapping-math -funsafe-math-optimizations -ffinite-math-only -fno-signed-zeros -fno-math-errno "
    "-fno-finite-math-only -fno-unsafe-math-optimizations -ffp-contract=off -fexcess-precision=fast";
constexpr std::string_view kMath213 =
    "-fno-omit-frame-pointer -g1 -fno-trapping-math -funsafe-math-optimizations -ffinite-math-only "
    "-fno-signed-zeros -fno-finite-math-only -fno-unsafe-math-optimizations -fmath-errno -ffp-contract=off "
    "-fexcess-precision=fast";
constexpr std::string_view kPrecompiled = "-D TORCH_INDUCTOR_PRECOMPILE_HEADERS ";
constexpr std::string_view kShared = "-shared -fPIC ";

constexpr std::array kForms{
    Form{"", kShared, kMath28, "", "-std=c++17 -Wno-unused-variable -Wno-unknown-pragmas ",
         "-D_GLIBCXX_USE_CXX11_ABI=1 ", ""},  // 2.8
    Form{"", "", kMath29, kShared, "-std=c++17 -Wno-unused-variable -Wno-unknown-pragmas -pedantic ", "",
         " -lc10"},  // 2.9
    Form{"", "", kMath29, kShared, "-std=c++17 -Wno-unused-variable -Wno-unknown-pragmas -pedantic ", "",
         ""},  // 2.10, 2.11
    Form{kPrecompiled, "", kMath29, kShared,
         "-std=c++20 -Wno-unused-variable -Wno-unknown-pragmas -pedantic ", "", ""},  // 2.12
    Form{kPrecompiled, "", kMath213, kShared,
         "-std=c++20 -Wno-unused-variable -Wno-unknown-pragmas -pedantic ", "", ""},  // 2.13 to 2.15
    Form{"", "", kMath213, kShared, "-std=c++20 -Wno-unused-variable -Wno-unknown-pragmas -pedantic ", "",
         ""},  // the same without precompiled headers
};

struct Processor {
  std::string_view definition;
  std::string_view flags;  ///< with a blank behind them
};

constexpr std::string_view kAvx512 = "-D CPU_CAPABILITY_AVX512 ";
constexpr std::array kProcessors{
    Processor{"-D CPU_CAPABILITY_AVX2 ", "-mavx2 -mfma -mf16c "},
    Processor{kAvx512, "-mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma "},
    Processor{kAvx512, "-mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mavx512bf16 "},
    Processor{kAvx512, "-mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mavx512vnni -mavx512vl "},
    Processor{kAvx512, "-mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mamx-tile -mamx-bf16 -mamx-int8 "},
    Processor{kAvx512,
              "-mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mavx512vnni -mavx512vl -mamx-tile "
              "-mamx-bf16 -mamx-int8 "},
    Processor{kAvx512,
              "-mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mavx512vnni -mavx512vl -mamx-tile "
              "-mamx-bf16 -mamx-int8 -mamx-fp16 "},
    Processor{"", ""},
};

struct Places {
  std::string python;
  std::string python_libraries;
  std::string torch;  ///< its include directory
};

std::string command(const Form& form, const Processor& processor, const Places& places) {
  const std::string_view packages =
      std::string_view(places.torch).substr(0, places.torch.size() - std::string_view("/include").size());
  std::string text = "None g++ i -D TORCH_INDUCTOR_CPP_WRAPPER -D STANDALONE_TORCH_HEADER ";
  text += fmt::format("{}-D  C10_USING_CUSTOM_GENERATED_MACROS {} ", form.definitions, processor.definition);
  text += fmt::format("{}-O3 -DNDEBUG {} -fno-tree-loop-vectorize -march=native {}-Wall {}-fopenmp  ",
                      form.before, form.optimise, form.behind, form.language);
  text += fmt::format("-I{} -I{} -I{}/torch/csrc/api/include   {}{} -o o.so  ", places.python, places.torch,
                      places.torch, processor.flags, form.abi);
  text += fmt::format("-ltorch -ltorch_cpu -ltorch_python -lgomp{}  -L{} -L{}/lib ", form.libraries,
                      places.python_libraries, packages);
  return text;
}

/// `<prefix>` of "<prefix>/lib/python3.11/site-packages/torch/include", and the directory of the same
/// environment's Python headers.
std::vector<std::string> headers_beside(std::string_view torch) {
  const std::size_t at = torch.rfind("/lib/python3.");
  if (at == std::string_view::npos) return {};
  const std::string_view version = torch.substr(at + 5, torch.find('/', at + 5) - at - 5);
  return {fmt::format("{}/include/{}", torch.substr(0, at), version)};
}

std::vector<std::string> library_directories(std::string_view python) {
  const std::string_view prefix = python.substr(0, python.find("/include/python"));
  std::vector<std::string> found = {fmt::format("{}/lib", prefix)};
  if (prefix == "/usr") found.emplace_back("/usr/lib/x86_64-linux-gnu");
  return found;
}

}  // namespace

std::vector<std::string> default_commands(const BuildPaths& paths) {
  std::vector<std::string> commands;
  for (const std::string& torch : paths.torch) {
    for (const std::string& python : paths.python.empty() ? headers_beside(torch) : paths.python) {
      for (const std::string& libraries : library_directories(python)) {
        const Places places{python, libraries, torch};
        for (const Form& form : kForms)
          for (const Processor& processor : kProcessors) commands.push_back(command(form, processor, places));
      }
    }
  }
  return commands;
}

std::vector<std::string> command_variants(std::string_view given) {
  const std::string_view trimmed = given.substr(0, given.find_last_not_of(" \t\r\n") + 1);
  std::vector<std::string> variants;
  for (const std::string& body : {std::string(given), std::string(trimmed), fmt::format("{} ", trimmed)}) {
    variants.push_back(body);
    variants.push_back(fmt::format("None {}", body));
    variants.push_back(fmt::format("'{}'", body));
  }
  std::sort(variants.begin(), variants.end());
  variants.erase(std::unique(variants.begin(), variants.end()), variants.end());
  return variants;
}

}  // namespace cachetool::verify
