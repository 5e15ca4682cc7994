#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace cachetool {

/// Keeps each distinct string once and hands out small numbers for it. Thread safe. Number 0 is "".
class Interner {
 public:
  Interner();
  ~Interner();
  std::uint32_t intern(std::string_view text);
  /// Valid as long as the interner lives; "" for a number that it never gave.
  std::string_view text(std::uint32_t id) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cachetool
