# Third-party libraries, all from Debian packages (see scripts/setup.sh).
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(cereal REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(LibArchive REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Zydis CONFIG REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)

add_library(cachetool_dependencies INTERFACE)
target_link_libraries(cachetool_dependencies INTERFACE
  Threads::Threads OpenSSL::Crypto fmt::fmt tl::expected cereal::cereal nlohmann_json::nlohmann_json
  LibArchive::LibArchive ZLIB::ZLIB PkgConfig::zstd Zydis::Zydis)

# Optional: only detected for now, used by replay on the GPU.
find_package(CUDAToolkit QUIET)
message(STATUS "CUDA toolkit: ${CUDAToolkit_VERSION}")
