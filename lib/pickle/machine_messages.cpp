// What the machine says: deviations and errors.

#include <fmt/format.h>

#include <algorithm>

#include "pickle/machine.h"

namespace cachetool::pickle {

void Machine::deviate(Deviation::Kind kind, std::uint64_t offset, std::string detail) {
  auto& deviations = document_.deviations_;
  const auto same =
      std::count_if(deviations.begin(), deviations.end(), [&](const Deviation& d) { return d.kind == kind; });
  if (static_cast<std::size_t>(same) >= Document::kMaxDeviationsPerKind) return;
  deviations.push_back({kind, offset, std::move(detail)});
}

std::nullptr_t Machine::fail_with(ErrorCode code, std::string_view reason) {
  const std::string_view name = opcode_name(static_cast<std::uint8_t>(*opcode_at_));
  error_ = Error{code, fmt::format("{}: {}", name, reason), {}, here(), {}};
  return nullptr;
}

std::nullptr_t Machine::underflow() {
  return malformed(marks_.empty() ? "the stack is empty" : "a MARK is in the way");
}

std::nullptr_t Machine::key_failure(KeyOutcome outcome, const Value& key) {
  switch (outcome) {
    case KeyOutcome::kUnhashable:
      return malformed(fmt::format("a {} can't be a key: it is unhashable", type_name(key.tag())));
    case KeyOutcome::kTooMuchWork:
      return fail_with(ErrorCode::kLimitWork, "comparing keys takes too many steps: they collide");
    default:
      return no_memory();
  }
}

Machine::Position Machine::unknown_opcode(std::uint8_t opcode) {
  error_ =
      Error{ErrorCode::kMalformed, fmt::format("byte 0x{:02x} is not an opcode", opcode), {}, here(), {}};
  return nullptr;
}

}  // namespace cachetool::pickle
