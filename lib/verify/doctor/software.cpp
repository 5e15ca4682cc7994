#include "verify/doctor/software.h"

#include <algorithm>
#include <charconv>

#include "store/paths.h"
#include "torch/release.h"
#include "verify/doctor/path_walk.h"
#include "verify/doctor/text_file.h"

namespace cachetool::verify {
namespace {

/// A directory in which packages may lie.
struct SearchPlace {
  std::string path;
  std::string from;
};

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(':'), text.size());
    if (end != 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::vector<DirEntry> entries_of(FileSystem& fs, const std::string& path) {
  const auto directory = fs.open_root(path);
  if (!directory) return {};
  return fs.list(**directory).value_or(std::vector<DirEntry>());
}

class Places {
 public:
  Places(FileSystem& fs, std::vector<SearchPlace>& places) : fs_(fs), places_(places) {}

  void add(const std::string& path, const std::string& from) {
    const auto directory = fs_.open_root(path);
    if (!directory) return;
    const std::string real = walk_path(fs_, path).real;
    const bool known = std::any_of(places_.begin(), places_.end(),
                                   [&](const SearchPlace& place) { return place.path == real; });
    if (!known) places_.push_back({real, from});
  }

  /// Everything below an installation's prefix: lib/python3.11/site-packages and Debian's dist-packages.
  void add_prefix(const std::string& prefix, const std::string& from) {
    for (const std::string_view lib : {"lib", "lib64"}) {
      const std::string library = store::join_path(prefix, lib);
      for (const DirEntry& entry : entries_of(fs_, library)) {
        if (!entry.name.str().starts_with("python3")) continue;
        for (const std::string_view packages : {"site-packages", "dist-packages"})
          add(library + "/" + entry.name.str() + "/" + std::string(packages), from);
      }
    }
  }

 private:
  FileSystem& fs_;
  std::vector<SearchPlace>& places_;
};

/// The prefixes of the python3 that a shell would run: the directory above its bin/, and what a link leads
/// to.
void add_interpreter(FileSystem& fs, const store::Environment& environment, Places& places) {
  for (const std::string& directory : split_list(environment.get("PATH").value_or(""))) {
    if (!directory.starts_with('/')) continue;
    for (const std::string_view name : {"python3", "python"}) {
      const PathWalk walk = walk_path(fs, store::join_path(directory, name));
      if (!walk.is_file) continue;
      places.add_prefix(std::string(store::directory_of(directory)), "PATH");
      const std::string real_bin(store::directory_of(walk.real));
      const std::string prefix(store::directory_of(real_bin));
      const std::string settings =
          read_text(fs, std::string(store::directory_of(directory)) + "/pyvenv.cfg", 65536).value_or("");
      const bool isolated = settings.find("include-system-site-packages = false") != std::string::npos;
      if (!isolated) {
        places.add_prefix(prefix, "PATH");
        if (prefix == "/usr") places.add_prefix("/usr/local", "PATH");
      }
      return;
    }
  }
}

std::vector<SearchPlace> search_places(FileSystem& fs, const store::Environment& environment) {
  std::vector<SearchPlace> result;
  Places places(fs, result);
  for (const std::string& path : split_list(environment.get("PYTHONPATH").value_or("")))
    places.add(store::absolute_path(environment, path), "PYTHONPATH");
  for (const std::string_view name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string_view value = environment.get(name).value_or("");
    if (value.starts_with('/')) places.add_prefix(std::string(value), std::string(name));
  }
  add_interpreter(fs, environment, places);
  if (const auto base = environment.get("PYTHONUSERBASE"); base && !base->empty()) {
    places.add_prefix(store::absolute_path(environment, *base), "PYTHONUSERBASE");
  } else if (const auto home = environment.home(); home && home->starts_with('/')) {
    places.add_prefix(store::join_path(*home, ".local"), "user directory");
  }
  return result;
}

/// The text between the quotes of `name = '…'` or `name: type = "…"`; empty for None.
std::string assigned_text(std::string_view source, std::string_view name) {
  std::string result;
  for_each_line(source, [&](std::string_view line) {
    if (!line.starts_with(name) || !result.empty()) return;
    std::string_view rest = line.substr(name.size());
    if (rest.empty() || (rest[0] != ' ' && rest[0] != ':' && rest[0] != '=')) return;
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos) return;
    rest = trimmed(rest.substr(equals + 1));
    if (rest.size() < 2 || (rest[0] != '\'' && rest[0] != '"')) return;
    const std::size_t end = rest.find(rest[0], 1);
    if (end != std::string_view::npos) result = rest.substr(1, end - 1);
  });
  return result;
}

std::string backend_of(const std::string& version_py) {
  if (const std::string cuda = assigned_text(version_py, "cuda"); !cuda.empty()) return "cuda " + cuda;
  if (const std::string hip = assigned_text(version_py, "hip"); !hip.empty()) return "rocm " + hip;
  if (const std::string xpu = assigned_text(version_py, "xpu"); !xpu.empty()) return "xpu " + xpu;
  return "cpu";
}

bool is_wanted(std::string_view name) {
  return name == "torch" || name == "triton" || name == "vllm" || name == "pytorch_triton" ||
         name == "pytorch_triton_rocm" || name == "pytorch_triton_xpu" || name == "triton_rocm";
}

void find_packages(FileSystem& fs, const SearchPlace& place, std::vector<Package>& packages) {
  constexpr std::string_view kSuffix = ".dist-info";
  bool has_torch = false;
  for (const DirEntry& entry : entries_of(fs, place.path)) {
    std::string_view name = entry.name.str();
    if (!name.ends_with(kSuffix)) continue;
    name.remove_suffix(kSuffix.size());
    const std::size_t dash = name.find('-');
    if (dash == std::string_view::npos || !is_wanted(name.substr(0, dash))) continue;
    Package package{
        std::string(name.substr(0, dash)), std::string(name.substr(dash + 1)), {}, place.path, place.from};
    if (package.name == "torch") {
      has_torch = true;
      const auto version_py = read_text(fs, place.path + "/torch/version.py", 65536);
      if (!version_py) continue;  // left behind by a removed installation
      const std::string exact = assigned_text(*version_py, "__version__");
      if (!exact.empty()) package.version = exact;
      package.backend = backend_of(*version_py);
    }
    packages.push_back(std::move(package));
  }
  if (has_torch) return;
  // A source tree on PYTHONPATH has no .dist-info directory.
  if (const auto version_py = read_text(fs, place.path + "/torch/version.py", 65536)) {
    const std::string version = assigned_text(*version_py, "__version__");
    if (!version.empty())
      packages.push_back({"torch", version, backend_of(*version_py), place.path, place.from});
  }
}

/// A program as a shell finds it: along PATH, or at its path. Compilers are often given with arguments or a
/// launcher in front ("ccache g++"): the first word is what must be there.
std::string find_program(FileSystem& fs, const store::Environment& environment, std::string_view command) {
  const std::string_view first = command.substr(0, command.find(' '));
  const auto is_program = [&](const std::string& path) { return walk_path(fs, path).is_file; };
  if (first.find('/') != std::string_view::npos) {
    const std::string path = store::absolute_path(environment, first);
    return is_program(path) ? path : std::string();
  }
  for (const std::string& directory : split_list(environment.get("PATH").value_or(""))) {
    const std::string path = store::join_path(store::absolute_path(environment, directory), first);
    if (is_program(path)) return path;
  }
  return {};
}

/// CXX, else g++ (torch/_inductor/config.py: cpp.cxx); CC, else gcc, else clang (triton/runtime/build.py).
std::vector<Program> find_programs(FileSystem& fs, const store::Environment& environment) {
  std::vector<Program> programs;
  const std::string_view cxx = environment.get("CXX").value_or("");
  const std::string cxx_name(cxx.empty() ? "g++" : cxx);
  programs.push_back(
      {"C++ compiler", cxx_name, find_program(fs, environment, cxx_name), cxx.empty() ? "default" : "CXX"});
  const std::string_view cc = environment.get("CC").value_or("");
  if (!cc.empty()) {
    programs.push_back({"C compiler", std::string(cc), find_program(fs, environment, cc), "CC"});
    return programs;
  }
  for (const std::string_view name : {"gcc", "clang"}) {
    const std::string path = find_program(fs, environment, name);
    if (path.empty() && name == "gcc") continue;
    programs.push_back({"C compiler", path.empty() ? "gcc or clang" : std::string(name), path, "default"});
    break;
  }
  return programs;
}

}  // namespace

Software find_software(FileSystem& fs, const store::Environment& environment) {
  Software software;
  for (const SearchPlace& place : search_places(fs, environment)) find_packages(fs, place, software.packages);
  software.programs = find_programs(fs, environment);
  return software;
}

std::optional<torch::ReleaseFamily> family_of_version(std::string_view version) {
  for (int i = static_cast<int>(torch::ReleaseFamily::k2_4);
       i <= static_cast<int>(torch::ReleaseFamily::k2_15); ++i) {
    const auto family = static_cast<torch::ReleaseFamily>(i);
    const std::string_view name = torch::family_name(family);
    if (version.starts_with(name) && (version.size() == name.size() || version[name.size()] == '.'))
      return family;
  }
  return std::nullopt;
}

}  // namespace cachetool::verify
