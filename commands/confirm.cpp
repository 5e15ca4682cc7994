#include "commands/confirm.h"

#include <iostream>
#include <string>

namespace cachetool::commands {

Consent ask(Context& context, std::string_view question) {
  if (!context.terminal.in || !context.terminal.error) return Consent::kNotAsked;
  context.error.write(std::string(question) + " [y/N] ");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes" ? Consent::kGiven : Consent::kRefused;
}

}  // namespace cachetool::commands
