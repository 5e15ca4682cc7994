#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory_file_system.h"
#include "change/plan.h"

namespace cachetool::test {

inline Name name(std::string_view text) {
  return *Name::parse(text);
}

/// Every path below the top of `fs` with its content: bytes of files, "/" of directories, "-> target" of
/// links.
using Tree = std::map<std::string, std::string>;

inline Tree tree_of(FileSystem& fs) {
  Tree tree;
  std::vector<std::pair<std::string, DirHandle>> pending = {{"", *fs.open_root("/")}};
  while (!pending.empty()) {
    const auto [path, dir] = std::move(pending.back());
    pending.pop_back();
    const std::vector<DirEntry> entries = *fs.list(*dir);
    for (const DirEntry& entry : entries) {
      const std::string below = path.empty() ? entry.name.str() : path + "/" + entry.name.str();
      if (entry.type == FileType::kDirectory) {
        tree[below] = "/";
        if (auto opened = fs.open_dir(*dir, entry.name)) pending.emplace_back(below, std::move(*opened));
      } else if (entry.type == FileType::kSymlink) {
        tree[below] = "-> " + *fs.read_link(*dir, entry.name);
      } else {
        std::string bytes;
        static_cast<void>(read_file(fs, *dir, entry.name, 1U << 30U, bytes));
        tree[below] = bytes;
      }
    }
  }
  return tree;
}

/// The part of `tree` at `path` and below it, with paths below `path`.
inline Tree at(const Tree& tree, const std::string& path) {
  Tree part;
  for (const auto& [name, content] : tree) {
    if (name == path) part[""] = content;
    if (name.starts_with(path + "/")) part[name.substr(path.size() + 1)] = content;
  }
  return part;
}

/// `tree` without cachetool's own state.
inline Tree cache_of(const Tree& tree) {
  Tree cache;
  for (const auto& [name, content] : tree) {
    if (name != ".cachetool" && !name.starts_with(".cachetool/")) cache[name] = content;
  }
  return cache;
}

inline const std::string kKernel = "cabcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrs";
inline const std::string kDamaged = "cbbcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrs";

/// A small cache: entries, kernels of several files, Triton directories, and neighbours of each.
inline void fill_cache(MemoryFileSystem& fs) {
  fs.add_file("fxgraph/ab/fkey/leaf", "graph one");
  fs.add_file("fxgraph/ab/fkey/other", "graph two");
  fs.add_file("aotautograd/akey/entry", "aot");
  fs.add_file("ab/" + kKernel + ".cpp", "source");
  fs.add_file("ab/" + kKernel + ".so", "library");
  fs.add_file("ab/cneighbour.so", "neighbour");
  fs.add_file("locks/" + kKernel + ".lock", "");
  fs.add_file("bb/" + kDamaged + ".main.cpp", "source 2");
  fs.add_file("bb/" + kDamaged + ".main.so", "trunc");
  fs.add_file("triton/0/DIR/k.json", "{}");
  fs.add_file("triton/0/DIR/k.cubin", "cubin");
  fs.add_file("triton/0/DIR/tmp.pid_1/k.ttir", "ir");
  fs.add_file("triton/0/HALF/k.json", "{1}");
  fs.add_dir("triton/0/HALF/empty");
  fs.add_file("triton/0/KEPT/k.json", "{2}");
}

/// Units of each kind in that cache: files and directories, one path and several, to be removed and to go
/// into quarantine.
inline std::vector<change::UnitRequest> all_requests() {
  using change::Action;
  return {{"aot", "old", Action::kRemove, {"aotautograd/akey/entry"}},
          {"graph", "fxgraph.name", Action::kQuarantine, {"fxgraph/ab/fkey/leaf"}},
          {"kernel", "old", Action::kRemove, {"ab/" + kKernel + ".cpp", "ab/" + kKernel + ".so"}},
          {"damaged",
           "cpp.truncated",
           Action::kQuarantine,
           {"bb/" + kDamaged + ".main.cpp", "bb/" + kDamaged + ".main.so"}},
          {"triton", "old", Action::kRemove, {"triton/0/DIR"}},
          {"half", "triton.half", Action::kQuarantine, {"triton/0/HALF"}}};
}

}  // namespace cachetool::test
