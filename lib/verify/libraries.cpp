#include "verify/libraries.h"

#include <algorithm>
#include <array>
#include <set>

#include "container/loader_cache.h"

namespace cachetool::verify {
namespace {

/// Directories that the loader searches when its cache names nothing: glibc's own and Debian's.
std::vector<std::string> system_directories(std::uint16_t elf_machine) {
  const std::string triplet =
      elf_machine == container::kMachineAArch64 ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  return {"/lib/" + triplet, "/usr/lib/" + triplet, "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
}

bool is_interpreter_symbol(std::string_view symbol) {
  return symbol.starts_with("Py") || symbol.starts_with("_Py");
}

}  // namespace

LibraryOwner library_owner(std::string_view soname) {
  for (const std::string_view prefix : {"libtorch", "libc10", "libshm", "libcaffe2"})
    if (soname.starts_with(prefix)) return LibraryOwner::kTorch;
  for (const std::string_view prefix : {"libcuda.so", "libnvidia-", "libnvcuvid.so"})
    if (soname.starts_with(prefix)) return LibraryOwner::kDriver;
  return LibraryOwner::kSystem;
}

Libraries::Libraries(FileSystem& fs, LibraryPlaces places) : fs_(fs), places_(std::move(places)) {}

/// A process loads torch before anything from a cache, and a name stands for what was loaded first: so what
/// torch needs is found first, by the run paths of those who need it.
void Libraries::prepare() {
  if (prepared_) return;
  prepared_ = true;
  read_loader_cache();
  if (!places_.torch.empty()) {
    torch_directories_ = {places_.torch + "/lib"};
    for (const char* soname : {"libtorch_python.so", "libtorch.so", "libtorch_cpu.so"})
      if (const Library* library = load(soname); library != nullptr) load_closure(*library);
  }
  read_program();
}

void Libraries::read_loader_cache() {
  constexpr std::uint64_t kMaxCache = 16 << 20;
  auto bytes = read_path(fs_, "/etc/ld.so.cache", kMaxCache);
  if (!bytes) return;
  loader_cache_ = std::move(*bytes);
  const auto entries = container::read_loader_cache(loader_cache_);
  if (!entries) return;
  for (const container::LoaderCacheEntry& entry : *entries) cached_path_.emplace(entry.soname, entry.path);
}

void Libraries::read_program() {
  if (places_.program.empty()) return;
  auto file = open_path(fs_, places_.program);
  if (!file) return;
  auto program = Library::read(fs_, std::move(*file), places_.elf_machine);
  if (!program) return;
  program_.push_back((by_path_[(*program)->path()] = std::move(*program)).get());
  for (const std::string_view soname : program_.front()->needed())
    if (const Library* library = load(std::string(soname), program_.front()); library != nullptr)
      program_.push_back(library);
}

void Libraries::load_closure(const Library& first) {
  std::set<const Library*> seen = {&first};
  std::vector<const Library*> queue = {&first};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const std::string_view soname : queue[i]->needed()) {
      const Library* library = load(std::string(soname), queue[i]);
      if (library != nullptr && seen.insert(library).second) queue.push_back(library);
    }
  }
}

const Library* Libraries::open_in(const std::string& directory, std::string_view soname) {
  auto file = open_path(fs_, directory + "/" + std::string(soname));
  if (!file) return nullptr;
  if (const auto known = by_path_.find(file->path); known != by_path_.end()) return known->second.get();
  auto library = Library::read(fs_, std::move(*file), places_.elf_machine);
  if (!library) return nullptr;
  const Library* result = library->get();
  by_path_.emplace(result->path(), std::move(*library));
  return result;
}

/// The library of that name; `by` is who needs it, whose run path counts.
const Library* Libraries::load(const std::string& soname, const Library* by) {
  if (soname.empty() || soname.find('/') != std::string::npos) return nullptr;
  const Library*& known = by_name_[soname];
  if (known != nullptr) return known;
  const auto try_in = [&](const std::vector<std::string>& directories) {
    for (std::size_t i = 0; i < directories.size() && known == nullptr; ++i)
      known = open_in(directories[i], soname);
  };
  if (by != nullptr) try_in(by->run_path());
  if (!searched_.insert(soname).second || known != nullptr) return known;
  try_in(torch_directories_);
  try_in(places_.directories);
  const auto [first, last] = cached_path_.equal_range(soname);
  for (auto at = first; at != last && known == nullptr; ++at)
    known = open_in(std::string(directory_of_path(at->second)), soname);
  try_in(system_directories(places_.elf_machine));
  return known;
}

const Library* Libraries::find(std::string_view soname) {
  const std::lock_guard guard(mutex_);
  prepare();
  return load(std::string(soname));
}

Libraries::Resolution Libraries::resolve(const std::vector<std::string_view>& needed, std::string_view symbol,
                                         std::string_view version) {
  const std::lock_guard guard(mutex_);
  prepare();
  for (const Library* library : program_)
    if (library->defines(symbol, version)) return {};
  if (program_.empty() && is_interpreter_symbol(symbol)) return {};
  struct Wanted {
    std::string_view soname;
    const Library* by = nullptr;
  };
  std::set<std::string_view> seen;
  std::vector<Wanted> queue;
  const auto want = [&](const std::vector<std::string_view>& sonames, const Library* by) {
    for (const std::string_view soname : sonames)
      if (seen.insert(soname).second) queue.push_back({soname, by});
  };
  want(needed, nullptr);
  std::string missing;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Library* library = load(std::string(queue[i].soname), queue[i].by);
    if (library == nullptr) {
      if (missing.empty()) missing = queue[i].soname;
      continue;
    }
    if (library->defines(symbol, version)) return {};
    want(library->needed(), library);
  }
  if (!missing.empty()) return {Answer::kUnknown, std::move(missing)};
  return {Answer::kNobody, {}};
}

}  // namespace cachetool::verify
