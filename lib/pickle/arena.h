#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "pickle/account.h"
#include "pickle/value.h"

namespace cachetool::pickle {

/// Memory of one Document: small things are cut from chunks by moving a pointer, large arrays are blocks of
/// their own that can grow. Everything lives as long as the arena; whole chunks and blocks are charged.
/// Allocation returns null when the budget has run out, and is only allowed until `seal`.
class Arena {
 public:
  /// `expected_bytes` sizes the first chunk.
  Arena(Account& account, std::size_t expected_bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// `bytes` of memory aligned to 8.
  void* take(std::size_t bytes) {
    bytes = (bytes + 7) & ~std::size_t{7};
    if (bytes > static_cast<std::size_t>(end_ - next_)) [[unlikely]]
      return take_slowly(bytes);
    char* taken = next_;
    next_ += bytes;
    return taken;
  }

  template <class Node>
  Node* make() {
    void* memory = take(sizeof(Node));
    return memory == nullptr ? nullptr : new (memory) Node;
  }

  /// Makes the array at `data` (null when `old_bytes` is 0) `new_bytes` large: in place where possible, else
  /// moved. Only for arrays that came from `grow`.
  void* grow(void* data, std::size_t old_bytes, std::size_t new_bytes);

  /// Gives an array from `grow` back, if that is cheap.
  void release(void* data, std::size_t bytes);

  /// Ends allocation, so that the Account may go.
  void seal() { account_ = nullptr; }

  /// What is charged for it.
  std::uint64_t charged() const;

 private:
  struct Block {
    Block* previous;
    Block* next;
    std::size_t size;
    std::size_t padding;
  };
  static constexpr std::size_t kBlockBytes = 8192;  // arrays of at least this size are blocks of their own
  static constexpr std::size_t kMaxChunk = 256 << 10;

  void* take_slowly(std::size_t bytes);
  char* add_block(std::size_t bytes);
  char* resize_block(char* memory, std::size_t new_bytes);
  void drop_block(char* memory);

  Account* account_;
  char* next_ = nullptr;
  char* end_ = nullptr;
  Block* blocks_ = nullptr;
  std::size_t chunk_bytes_;
};

/// Adds `count` values to the end of `list`; false when the budget has run out.
[[nodiscard]] bool append(Arena& arena, ListNode& list, const Value* values, std::uint64_t count);

}  // namespace cachetool::pickle
