#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <cereal/cereal.hpp>
#include <cereal/types/string.hpp>

namespace cachetool::change {

static_assert(std::endian::native == std::endian::little,
              "private state is little-endian as it lies in memory");

/// A cereal archive that appends to a string. Private state only.
class ByteOutput : public cereal::OutputArchive<ByteOutput, cereal::AllowEmptyClassElision> {
 public:
  explicit ByteOutput(std::string& bytes) : OutputArchive(this), bytes_(bytes) {}
  void put(const void* data, std::size_t size) { bytes_.append(static_cast<const char*>(data), size); }

 private:
  std::string& bytes_;
};

/// A cereal archive over bytes that may be anything. A length is compared with the bytes left before anything
/// is made of it. It doesn't throw: once something doesn't fit, `ok` is false and all further values are
/// zero and empty.
class ByteInput : public cereal::InputArchive<ByteInput, cereal::AllowEmptyClassElision> {
 public:
  explicit ByteInput(std::string_view bytes) : InputArchive(this), left_(bytes) {}

  void get(void* data, std::size_t size) {
    if (size > left_.size()) fail();
    if (!ok_) {
      if (size > 0) std::memset(data, 0, size);
      return;
    }
    if (size > 0) std::memcpy(data, left_.data(), size);
    left_.remove_prefix(size);
  }
  /// The number of elements that follow, each of at least `least_bytes`.
  cereal::size_type count(std::size_t least_bytes) {
    cereal::size_type declared = 0;
    get(&declared, sizeof(declared));
    if (declared > left_.size() / least_bytes) fail();
    return ok_ ? declared : 0;
  }
  bool ok() const { return ok_; }
  std::size_t left() const { return left_.size(); }

 private:
  void fail() { ok_ = false; }

  std::string_view left_;
  bool ok_ = true;
};

template <class T>
  requires std::is_arithmetic_v<T>
void CEREAL_SAVE_FUNCTION_NAME(ByteOutput& archive, const T& value) {
  archive.put(&value, sizeof(value));
}
template <class T>
  requires std::is_arithmetic_v<T>
void CEREAL_LOAD_FUNCTION_NAME(ByteInput& archive, T& value) {
  archive.get(&value, sizeof(value));
}

template <class T>
void CEREAL_SAVE_FUNCTION_NAME(ByteOutput& archive, const cereal::SizeTag<T>& tag) {
  const cereal::size_type size = tag.size;
  archive.put(&size, sizeof(size));
}
/// Of strings only: their elements are bytes.
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(ByteInput& archive, cereal::SizeTag<T>& tag) {
  tag.size = archive.count(1);
}

template <class T>
void CEREAL_SAVE_FUNCTION_NAME(ByteOutput& archive, const cereal::BinaryData<T>& data) {
  archive.put(data.data, static_cast<std::size_t>(data.size));
}
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(ByteInput& archive, cereal::BinaryData<T>& data) {
  archive.get(data.data, static_cast<std::size_t>(data.size));
}

/// The bytes that the smallest value of a type takes: what bounds a list by the bytes left.
template <class T>
constexpr std::size_t kLeastBytes = T::kLeastBytes;
template <>
inline constexpr std::size_t kLeastBytes<std::string> = sizeof(cereal::size_type);

/// Instead of cereal/types/vector.hpp, which makes as many elements as the bytes claim.
template <class T>
void CEREAL_SAVE_FUNCTION_NAME(ByteOutput& archive, const std::vector<T>& list) {
  archive(cereal::make_size_tag(static_cast<cereal::size_type>(list.size())));
  for (const T& element : list) archive(element);
}
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(ByteInput& archive, std::vector<T>& list) {
  list.clear();
  const cereal::size_type count = archive.count(kLeastBytes<T>);
  for (cereal::size_type i = 0; i < count && archive.ok(); ++i) {
    list.emplace_back();
    archive(list.back());
  }
}

}  // namespace cachetool::change

CEREAL_SETUP_ARCHIVE_TRAITS(cachetool::change::ByteInput, cachetool::change::ByteOutput)
