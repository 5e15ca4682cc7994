#pragma once

#include <cstdint>
#include <utility>

namespace cachetool::torch {

enum class FieldState : std::uint8_t {
  kAbsent,  ///< the object has no such field (another release, or not set yet)
  kNone,    ///< it is None
  kValue,
  kMalformed,  ///< present with a type that it never has; there is a note that says which
};

/// One field of a record. What is missing stays missing: nothing is defaulted.
template <class T>
class Field {
 public:
  Field() = default;
  Field(T value) : value_(std::move(value)), state_(FieldState::kValue) {}  // NOLINT: a value is a field

  FieldState state() const { return state_; }
  bool present() const { return state_ != FieldState::kAbsent; }
  bool is_none() const { return state_ == FieldState::kNone; }
  explicit operator bool() const { return state_ == FieldState::kValue; }
  bool has_value() const { return state_ == FieldState::kValue; }
  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }
  T value_or(T fallback) const { return has_value() ? value_ : std::move(fallback); }

  void set_none() { state_ = FieldState::kNone; }
  void set_malformed() { state_ = FieldState::kMalformed; }
  T& emplace() { return state_ = FieldState::kValue, value_ = T{}; }

 private:
  T value_{};
  FieldState state_ = FieldState::kAbsent;
};

}  // namespace cachetool::torch
