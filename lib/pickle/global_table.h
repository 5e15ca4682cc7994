#pragma once

#include <cstdint>
#include <string_view>

#include "pickle/arena.h"
#include "pickle/charged_vector.h"
#include "pickle/equality.h"
#include "pickle/value.h"

namespace cachetool::pickle {

/// Keeps one node per global, so that a global looked up twice is the same object, as in Python.
class GlobalTable {
 public:
  explicit GlobalTable(Account& account) : slots_(account) {}

  /// The node of `module.name`, made with `offset` and added to `globals` when it is new. Null after
  /// kNoMemory or kTooMuchWork.
  const GlobalNode* intern(Arena& arena, Keys& keys, ListNode& globals, std::string_view module,
                           std::string_view name, std::uint64_t offset, KeyOutcome& outcome);

 private:
  struct Slot {
    std::uint64_t hash;
    const GlobalNode* node;
  };
  [[nodiscard]] bool enlarge();

  ChargedVector<Slot> slots_;  // open addressing, a power of two in size
  std::uint64_t count_ = 0;
};

}  // namespace cachetool::pickle
