#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"

namespace cachetool::container {

/// A shared library as the dynamic loader's cache lists it.
struct LoaderCacheEntry {
  std::string_view soname;
  std::string_view path;
};

/// Reads /etc/ld.so.cache in the format that ldconfig of glibc 2.32 and later writes ("glibc-ld.so.cache1.1",
/// 64-bit little-endian): entries for x86-64 and aarch64 programs, in the order of the file. Views point into
/// `bytes`. Errors: kUnsupported for an older format, kMalformed.
Expected<std::vector<LoaderCacheEntry>> read_loader_cache(std::string_view bytes);

}  // namespace cachetool::container
