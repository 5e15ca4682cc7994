#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

/// Pickles put together by hand: every function gives the opcodes that leave one value on the stack.
namespace pickle_text {

inline std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>((value >> (8 * i)) & 0xff);
  return text;
}

inline std::string none() {
  return "N";
}
inline std::string boolean(bool value) {
  return value ? "\x88" : "\x89";
}
inline std::string integer(std::int64_t value) {
  const std::string bytes = little_endian(static_cast<std::uint64_t>(value), 8);
  return "\x8a\x08" + bytes;  // LONG1
}
inline std::string real(std::string_view decimal) {
  return "F" + std::string(decimal) + "\n";
}
inline std::string text(std::string_view value) {
  return "X" + little_endian(value.size(), 4) + std::string(value);
}
inline std::string bytes(std::string_view value) {
  return "B" + little_endian(value.size(), 4) + std::string(value);
}
inline std::string global(std::string_view module, std::string_view name) {
  return "c" + std::string(module) + "\n" + std::string(name) + "\n";
}

template <class... Items>
std::string tuple(const Items&... items) {
  return "(" + (std::string() + ... + items) + "t";
}
template <class... Items>
std::string list(const Items&... items) {
  return "(" + (std::string() + ... + items) + "l";
}
/// Keys and values in turn.
template <class... Items>
std::string dict(const Items&... items) {
  return "(" + (std::string() + ... + items) + "d";
}
template <class... Items>
std::string set(const Items&... items) {
  return "\x8f(" + (std::string() + ... + items) + "\x90";
}
template <class... Args>
std::string call(const std::string& callable, const Args&... args) {
  return callable + tuple(args...) + "R";
}
inline std::string instance(std::string_view module, std::string_view name, const std::string& state) {
  return global(module, name) + ")\x81" + state + "b";
}
inline std::string persistent(const std::string& id) {
  return id + "Q";
}

/// The whole pickle.
inline std::string pickle(const std::string& value) {
  return "\x80\x04" + value + ".";
}

/// torch.save's legacy stream of one storage.
inline std::string storage(std::string_view storage_class, std::string_view location, std::int64_t count,
                           std::string_view elements, bool little = true) {
  const std::string module = storage_class == "UntypedStorage" ? "torch.storage" : "torch";
  std::string stream("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
  stream += "\x80\x02" + integer(1001) + ".";
  stream += "\x80\x02" +
            dict(text("protocol_version"), integer(1001), text("little_endian"), boolean(little)) + ".";
  stream += "\x80\x02" +
            persistent(tuple(text("storage"), global(module, storage_class), text("1"), text(location),
                             integer(count), none())) +
            ".";
  stream += "\x80\x02" + list(text("1")) + ".";
  return stream + little_endian(static_cast<std::uint64_t>(count), 8) + std::string(elements);
}

/// A tensor of size 2 x 3 with `stride` over that storage.
inline std::string tensor(const std::string& storage_stream, std::int64_t offset = 0) {
  return call(global("torch._utils", "_rebuild_tensor_v2"),
              call(global("torch.storage", "_load_from_bytes"), bytes(storage_stream)), integer(offset),
              tuple(integer(2), integer(3)), tuple(integer(3), integer(1)), boolean(false),
              call(global("collections", "OrderedDict")));
}

/// A file of tests/data/entries.
inline std::string entry_file(std::string_view name) {
  std::ifstream file(std::string(CACHETOOL_TEST_DATA) + "/entries/" + std::string(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace pickle_text
