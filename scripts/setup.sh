#!/usr/bin/env bash
# Installs the Debian packages that building and testing cachetool need. This is the only list of them.
# Usage: scripts/setup.sh [--build-only]   (as root, or as a user who may use sudo; does nothing when all are there)
set -euo pipefail

# To build and run: compilers, CMake and the libraries that cmake/dependencies.cmake looks for.
build_packages=(
  g++ cmake ninja-build pkg-config
  libssl-dev libfmt-dev libexpected-dev nlohmann-json3-dev libcli11-dev libarchive-dev libzstd-dev zlib1g-dev
  libcereal-dev libzydis-dev
  tar zstd
)
# To develop: test libraries, the second compiler with its sanitizers and fuzzer, tools that check the sources.
develop_packages=(
  doctest-dev librapidcheck-dev libbenchmark-dev
  clang-19 libclang-rt-19-dev llvm-19 clang-tidy-19 clang-format-19
  ccache git python3 python3-venv util-linux
)

case "${1:-}" in
  "") wanted=("${build_packages[@]}" "${develop_packages[@]}") ;;
  --build-only) wanted=("${build_packages[@]}") ;;
  *)
    sed -n '2,3s/^# //p' "$0" >&2
    exit 2
    ;;
esac

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: all ${#wanted[@]} packages are installed"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: needs root (or sudo) to install: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
apt_get() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@"; }
apt_get update
apt_get install -y --no-install-recommends "${missing[@]}" >/dev/null
