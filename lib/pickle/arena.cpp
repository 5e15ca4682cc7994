#include "pickle/arena.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace cachetool::pickle {

Arena::Arena(Account& account, std::size_t expected_bytes)
    : account_(&account), chunk_bytes_(std::clamp<std::size_t>(expected_bytes, 1024, kMaxChunk)) {}

Arena::~Arena() {
  while (blocks_ != nullptr) {
    Block* next = blocks_->next;
    std::free(blocks_);
    blocks_ = next;
  }
}

std::uint64_t Arena::charged() const {
  std::uint64_t total = 0;
  for (const Block* block = blocks_; block != nullptr; block = block->next) total += block->size;
  return total;
}

void* Arena::take_slowly(std::size_t bytes) {
  if (bytes >= kBlockBytes) return add_block(bytes);
  std::size_t size = std::max(chunk_bytes_, bytes);
  char* chunk = add_block(size);
  if (chunk == nullptr) {  // a smaller chunk may still fit
    size = bytes;
    chunk = add_block(size);
    if (chunk == nullptr) return nullptr;
  }
  chunk_bytes_ = std::min(chunk_bytes_ * 2, kMaxChunk);
  next_ = chunk + bytes;
  end_ = chunk + size;
  return chunk;
}

void* Arena::grow(void* data, std::size_t old_bytes, std::size_t new_bytes) {
  char* old = static_cast<char*>(data);
  if (old_bytes >= kBlockBytes) return resize_block(old, new_bytes);
  if (new_bytes >= kBlockBytes) {
    char* block = add_block(new_bytes);
    if (block != nullptr && old_bytes > 0) std::memcpy(block, old, old_bytes);
    return block;
  }
  if (old != nullptr && old + old_bytes == next_ &&
      new_bytes - old_bytes <= static_cast<std::size_t>(end_ - next_)) {
    next_ += new_bytes - old_bytes;
    return old;
  }
  void* moved = take(new_bytes);
  if (moved != nullptr && old_bytes > 0) std::memcpy(moved, old, old_bytes);
  return moved;
}

void Arena::release(void* data, std::size_t bytes) {
  char* memory = static_cast<char*>(data);
  if (bytes >= kBlockBytes) {
    drop_block(memory);
  } else if (memory + bytes == next_) {
    next_ = memory;
  }
}

char* Arena::add_block(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) return nullptr;
  const std::size_t size = bytes + sizeof(Block);
  if (!account_->charge(size)) return nullptr;
  auto* block = static_cast<Block*>(std::malloc(size));
  if (block == nullptr) {
    account_->release(size);
    return nullptr;
  }
  *block = Block{nullptr, blocks_, size, 0};
  if (blocks_ != nullptr) blocks_->previous = block;
  blocks_ = block;
  return reinterpret_cast<char*>(block + 1);
}

char* Arena::resize_block(char* memory, std::size_t new_bytes) {
  Block* block = reinterpret_cast<Block*>(memory) - 1;
  const std::size_t size = new_bytes + sizeof(Block);
  const std::size_t added = size - block->size;
  if (!account_->charge(added)) return nullptr;
  auto* moved = static_cast<Block*>(std::realloc(block, size));
  if (moved == nullptr) {
    account_->release(added);
    return nullptr;
  }
  moved->size = size;
  (moved->previous != nullptr ? moved->previous->next : blocks_) = moved;
  if (moved->next != nullptr) moved->next->previous = moved;
  return reinterpret_cast<char*>(moved + 1);
}

void Arena::drop_block(char* memory) {
  Block* block = reinterpret_cast<Block*>(memory) - 1;
  (block->previous != nullptr ? block->previous->next : blocks_) = block->next;
  if (block->next != nullptr) block->next->previous = block->previous;
  account_->release(block->size);
  std::free(block);
}

bool append(Arena& arena, ListNode& list, const Value* values, std::uint64_t count) {
  const std::uint64_t size = list.size + count;
  if (size > list.capacity) {
    if (size > std::numeric_limits<std::uint32_t>::max()) return false;
    // The first batch gets exactly its room: most lists have only one.
    std::uint64_t capacity =
        list.capacity == 0 ? size : std::max<std::uint64_t>(size, list.capacity * 3ULL / 2 + 2);
    capacity = std::min<std::uint64_t>(capacity, std::numeric_limits<std::uint32_t>::max());
    void* grown = arena.grow(list.data, list.capacity * sizeof(Value), capacity * sizeof(Value));
    if (grown == nullptr && capacity > size) {
      // Less room may do; in proportion, so that growing stays linear.
      capacity = std::max<std::uint64_t>(size, list.capacity + list.capacity / 16);
      grown = arena.grow(list.data, list.capacity * sizeof(Value), capacity * sizeof(Value));
    }
    if (grown == nullptr) return false;
    list.data = static_cast<Value*>(grown);
    list.capacity = static_cast<std::uint32_t>(capacity);
  }
  if (count > 0) std::memcpy(static_cast<void*>(list.data + list.size), values, count * sizeof(Value));
  list.size = static_cast<std::uint32_t>(size);
  return true;
}

}  // namespace cachetool::pickle
