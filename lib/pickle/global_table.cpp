#include "pickle/global_table.h"

#include "pickle/key_hash.h"

namespace cachetool::pickle {

const GlobalNode* GlobalTable::intern(Arena& arena, Keys& keys, ListNode& globals, std::string_view module,
                                      std::string_view name, std::uint64_t offset, KeyOutcome& outcome) {
  outcome = KeyOutcome::kNoMemory;
  if (count_ * 2 >= slots_.size() && !enlarge()) return nullptr;
  const std::uint64_t hash = fold(hash_text(Tag::kGlobal, module), hash_text(Tag::kGlobal, name));
  const std::uint64_t mask = slots_.size() - 1;
  std::uint64_t steps = 1 + (module.size() + name.size()) / 64;
  std::uint64_t at = hash & mask;
  for (; slots_[at].node != nullptr; at = (at + 1) & mask, ++steps) {
    if (slots_[at].hash == hash && slots_[at].node->module == module && slots_[at].node->name == name) break;
  }
  if (!keys.work(steps)) {
    outcome = KeyOutcome::kTooMuchWork;
    return nullptr;
  }
  if (slots_[at].node == nullptr) {
    auto* node = arena.make<GlobalNode>();
    if (node == nullptr) return nullptr;
    *node = GlobalNode{offset, module, name};
    const Value value = Value::node(Tag::kGlobal, node);
    if (!append(arena, globals, &value, 1)) return nullptr;
    slots_[at] = Slot{hash, node};
    ++count_;
  }
  outcome = KeyOutcome::kDone;
  return slots_[at].node;
}

bool GlobalTable::enlarge() {
  // Moves every slot to a table behind the old one, then that table to the front.
  const std::uint64_t old_size = slots_.size();
  const std::uint64_t size = old_size == 0 ? 64 : old_size * 2;
  if (!slots_.resize(old_size + size, Slot{0, nullptr})) return false;
  Slot* table = slots_.data() + old_size;
  for (std::uint64_t i = 0; i < old_size; ++i) {
    if (slots_[i].node == nullptr) continue;
    std::uint64_t at = slots_[i].hash & (size - 1);
    while (table[at].node != nullptr) at = (at + 1) & (size - 1);
    table[at] = slots_[i];
  }
  for (std::uint64_t i = 0; i < size; ++i) slots_[i] = table[i];
  slots_.truncate(size);
  return true;
}

}  // namespace cachetool::pickle
