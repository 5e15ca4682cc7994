#include "base/text.h"

namespace cachetool {

std::string escape_for_terminal(std::string_view text) { return std::string(text); }

}  // namespace cachetool
