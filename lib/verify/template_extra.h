#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachetool::verify {

/// What may stand behind the text of a max-autotune candidate in what its module is named after: the
/// arguments of its configuration, written as torch 2.9 and later write them into the module too. Up to two,
/// for Triton with and without warp specialisation. Empty when the text doesn't say (up to 2.8) or is no
/// candidate. torch/_inductor/select_algorithm.py: TritonTemplate.generate_and_load, make_extra (2.14).
std::vector<std::string> template_extras(std::string_view text);

/// Whether a module is such a candidate: one bare template kernel.
bool is_template_candidate(std::string_view text);

}  // namespace cachetool::verify
