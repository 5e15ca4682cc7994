#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "verify/library.h"

namespace cachetool::verify {

/// Who ships a library.
enum class LibraryOwner : std::uint8_t {
  kSystem,
  kTorch,   ///< the torch package: libtorch*.so, libc10*.so
  kDriver,  ///< the GPU's driver: libcuda.so.1
};
LibraryOwner library_owner(std::string_view soname);

/// Where a process that imported torch finds libraries.
struct LibraryPlaces {
  std::uint16_t elf_machine = container::kMachineX86_64;
  std::string torch;                     ///< the torch package's directory; empty: none
  std::string program;                   ///< the Python interpreter; empty: not known
  std::vector<std::string> directories;  ///< before the system's: LD_LIBRARY_PATH, a conda environment's lib
};

/// Libraries by name, each read when it is first asked for. Thread safe.
class Libraries {
 public:
  /// Reads nothing yet. `fs` must live as long as this.
  Libraries(FileSystem& fs, LibraryPlaces places);

  bool has_torch() const { return !places_.torch.empty(); }
  const std::string& torch() const { return places_.torch; }

  /// The library that a process finds under that name, as ld.so(8) would: among those that torch brings with
  /// it (by its own directory and run paths), else in LibraryPlaces::directories, the loader's cache, the
  /// system's directories. Null when there is none that can be read.
  const Library* find(std::string_view soname);

  /// Who defines a symbol.
  enum class Answer : std::uint8_t {
    kDefined,
    kNobody,
    kUnknown,  ///< nobody of those that were found, but `missing` was not
  };
  struct Resolution {
    Answer answer = Answer::kDefined;
    std::string missing;  ///< a library of the scope that wasn't found
  };
  /// Looks in the interpreter, then in the libraries `needed` and what they need in turn, breadth first.
  Resolution resolve(const std::vector<std::string_view>& needed, std::string_view symbol,
                     std::string_view version);

 private:
  const Library* load(const std::string& soname, const Library* by = nullptr);
  void load_closure(const Library& first);
  void prepare();
  const Library* open_in(const std::string& directory, std::string_view soname);
  void read_loader_cache();
  void read_program();

  FileSystem& fs_;
  LibraryPlaces places_;
  std::mutex mutex_;
  bool prepared_ = false;
  std::vector<std::string> torch_directories_;
  std::string loader_cache_;                                       ///< bytes that the next points into
  std::multimap<std::string_view, std::string_view> cached_path_;  ///< soname → path
  std::map<std::string, std::unique_ptr<Library>, std::less<>> by_path_;
  std::map<std::string, const Library*, std::less<>> by_name_;  ///< null: not found (yet)
  std::set<std::string, std::less<>> searched_;                 ///< names looked for everywhere once
  std::vector<const Library*> program_;                         ///< the interpreter and what it needs
};

}  // namespace cachetool::verify
