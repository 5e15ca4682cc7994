#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verify/build_paths.h"

namespace cachetool::verify {

/// What torch 2.8 to 2.15 put behind the text of a C++ kernel before they hash it, for a library that was
/// built with those headers on x86-64 Linux by g++ with default settings: one text for each form of the
/// command and each set of processor flags. Where no Python headers are known, those of the environment that
/// holds torch. torch/_inductor/codecache.py: CppCodeCache.load_async; cpp_builder.py:
/// CppBuilder.get_command_line; cpu_vec_isa.py.
std::vector<std::string> default_commands(const BuildPaths& paths);

/// The ways in which a command that a person hands over may stand there: as torch hashes it, without the word
/// `None ` in front (2.8 on), as the command itself where torch takes its repr (2.6), with blanks at its end
/// that got lost or came with a file.
std::vector<std::string> command_variants(std::string_view given);

}  // namespace cachetool::verify
