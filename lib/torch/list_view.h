#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

#include "pickle/value.h"
#include "torch/plain.h"

namespace cachetool::torch {

/// How an element of a ListView is recognised and read. `matches` is checked once for every element when a
/// record is decoded.
template <class T>
struct Element;

template <>
struct Element<pickle::Value> {
  static constexpr std::string_view kName = "value";
  static bool matches(const pickle::Value&) { return true; }
  static pickle::Value read(const pickle::Value& value) { return value; }
};

template <>
struct Element<bool> {
  static constexpr std::string_view kName = "bool";
  static bool matches(const pickle::Value& value) { return value.is(pickle::Tag::kBool); }
  static bool read(const pickle::Value& value) { return value.as_bool(); }
};

template <>
struct Element<std::int64_t> {
  static constexpr std::string_view kName = "int";
  static bool matches(const pickle::Value& value) { return value.is(pickle::Tag::kInt); }
  static std::int64_t read(const pickle::Value& value) { return value.as_int(); }
};

template <>
struct Element<std::string_view> {
  static constexpr std::string_view kName = "str";
  static bool matches(const pickle::Value& value) { return value.is(pickle::Tag::kString); }
  static std::string_view read(const pickle::Value& value) { return value.bytes(); }
};

template <class T>
struct Element<std::optional<T>> {
  static constexpr std::string_view kName = Element<T>::kName;
  static bool matches(const pickle::Value& value) { return value.is_none() || Element<T>::matches(value); }
  static std::optional<T> read(const pickle::Value& value) {
    if (value.is_none()) return std::nullopt;
    return Element<T>::read(value);
  }
};

/// A list, tuple or set (torch.Size and OrderedSet too) whose elements were all found to be of type T when it
/// was decoded; they are read in place, so a view costs no memory. Lives as long as the Document.
template <class T>
class ListView {
 public:
  class Iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    Iterator() = default;
    explicit Iterator(const pickle::Value* at) : at_(at) {}
    T operator*() const { return Element<T>::read(*at_); }
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return Iterator(at_++); }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const pickle::Value* at_ = nullptr;
  };

  ListView() = default;
  explicit ListView(std::span<const pickle::Value> items) : items_(items) {}

  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  T operator[](std::size_t i) const { return Element<T>::read(items_[i]); }
  Iterator begin() const { return Iterator(items_.data()); }
  Iterator end() const { return Iterator(items_.data() + items_.size()); }
  std::span<const pickle::Value> values() const { return items_; }

 private:
  std::span<const pickle::Value> items_;
};

template <class T>
struct Element<ListView<T>> {
  static constexpr std::string_view kName = "list";
  static bool matches(const pickle::Value& value) {
    const auto items = sequence_items(value);
    if (!items) return false;
    for (const pickle::Value& item : *items) {
      if (!Element<T>::matches(item)) return false;
    }
    return true;
  }
  static ListView<T> read(const pickle::Value& value) { return ListView<T>(*sequence_items(value)); }
};

using Ints = ListView<std::int64_t>;
using Bools = ListView<bool>;
using Texts = ListView<std::string_view>;
using Values = ListView<pickle::Value>;
using OptionalInts = ListView<std::optional<std::int64_t>>;
using OptionalTexts = ListView<std::optional<std::string_view>>;

}  // namespace cachetool::torch
