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

Libraries::Libraries(FileSystem& fs, LibraryPlaces places) : fs_(fs), places_(std::move(places)) {
  read_loader_cache();
  read_torch_paths();
  read_program();
}

/// Extension modules of torch are loaded before anything from a cache, so libraries of torch's wheel and of
/// the wheels it depends on are those that its own run path finds.
void Libraries::read_torch_paths() {
  if (places_.torch.empty()) return;
  const std::string own = places_.torch + "/lib";
  torch_directories_ = {own};
  const Library* main = open_in(own, "libtorch_cpu.so");
  if (main == nullptr) return;
  for (std::string& directory : main->run_path()) torch_directories_.push_back(std::move(directory));
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
  const std::vector<std::string> run_path = (*program)->run_path();
  program_.push_back((by_path_[(*program)->path()] = std::move(*program)).get());
  for (const std::string_view soname : program_.front()->needed()) {
    const Library* library = nullptr;
    for (const std::string& directory : run_path) {
      library = open_in(directory, soname);
      if (library != nullptr) break;
    }
    if (library == nullptr) library = load(std::string(soname));
    if (library != nullptr) program_.push_back(library);
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

const Library* Libraries::load(const std::string& soname) {
  if (soname.empty() || soname.find('/') != std::string::npos) return nullptr;
  if (const auto known = by_name_.find(soname); known != by_name_.end()) return known->second;
  const Library* found = nullptr;
  const auto try_in = [&](const std::vector<std::string>& directories) {
    for (std::size_t i = 0; i < directories.size() && found == nullptr; ++i)
      found = open_in(directories[i], soname);
  };
  try_in(torch_directories_);
  try_in(places_.directories);
  const auto [first, last] = cached_path_.equal_range(soname);
  for (auto at = first; at != last && found == nullptr; ++at)
    found = open_in(std::string(directory_of_path(at->second)), soname);
  try_in(system_directories(places_.elf_machine));
  by_name_.emplace(soname, found);
  return found;
}

const Library* Libraries::find(std::string_view soname) {
  const std::lock_guard guard(mutex_);
  return load(std::string(soname));
}

Libraries::Resolution Libraries::resolve(const std::vector<std::string_view>& needed, std::string_view symbol,
                                         std::string_view version) {
  const std::lock_guard guard(mutex_);
  for (const Library* library : program_)
    if (library->defines(symbol, version)) return {};
  if (program_.empty() && is_interpreter_symbol(symbol)) return {};
  std::set<std::string_view> seen(needed.begin(), needed.end());
  std::vector<std::string_view> queue(needed.begin(), needed.end());
  std::string missing;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Library* library = load(std::string(queue[i]));
    if (library == nullptr) {
      if (missing.empty()) missing = queue[i];
      continue;
    }
    if (library->defines(symbol, version)) return {};
    for (const std::string_view next : library->needed())
      if (seen.insert(next).second) queue.push_back(next);
  }
  if (!missing.empty()) return {Answer::kUnknown, std::move(missing)};
  return {Answer::kNobody, {}};
}

}  // namespace cachetool::verify
