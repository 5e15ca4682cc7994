#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "store/source.h"

namespace store_tests {

// Names of the right shapes, easy to tell apart.
inline std::string repeated(char c, std::size_t count) {
  return std::string(count, c);
}
inline std::string hash_name(char prefix, char fill) {
  return std::string(1, prefix) + repeated(fill, 50) + "a";
}
inline std::string leaf_name(char fill) {
  return repeated(fill, 50) + "a";
}
inline std::string fx_directory(const std::string& key) {
  return "fxgraph/" + key.substr(1, 2) + "/" + key;
}
inline std::string shard_file(const std::string& stem, const std::string& suffix) {
  return stem.substr(1, 2) + "/" + stem + "." + suffix;
}

/// An environment in which nothing points anywhere.
inline cachetool::store::Environment plain_environment() {
  cachetool::store::Environment environment;
  environment.working_directory = "/here";
  environment.uid = 1000;
  environment.groups = {1000};
  environment.passwd_name = "ada";
  environment.passwd_home = "/home/ada";
  return environment;
}

/// What a walk handed out, as text.
struct Recorder final : cachetool::store::ArtifactSink {
  std::vector<std::string> found;  // "kind path"
  std::vector<cachetool::store::Skipped> left_out;
  std::size_t stop_after = ~std::size_t{0};

  bool artifact(const cachetool::store::Artifact& artifact) override {
    found.push_back(std::string(kind_name(artifact.kind)) + " " + std::string(artifact.path));
    return found.size() < stop_after;
  }
  void skipped(const cachetool::store::Skipped& skipped) override { left_out.push_back(skipped); }
};

inline std::unique_ptr<cachetool::store::Source> open_source(cachetool::FileSystem& fs,
                                                             const std::string& path) {
  auto set = cachetool::store::resolve_cache(fs, plain_environment(), path);
  if (!set) return nullptr;
  return make_directory_source(fs, std::move(*set));
}

}  // namespace store_tests
