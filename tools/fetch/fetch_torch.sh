#!/bin/sh
# Fetches PyPI's torch into FOLDER, for the presets `pypi` and `cuda`: fetch_torch.sh [--cuda] FOLDER
#
# The package is built with CUDA. Of NVIDIA's libraries come the two that its CPU half is linked with,
# with --cuda all that it names (docs/building.md has the sizes). Wheels come from the index that pip
# is configured for. They are unpacked without being installed, and nothing of them is run: Python is
# needed here, not by the build or the program. A folder that is complete is left alone; --cuda adds to
# one that was fetched without.
set -eu

version=2.15.0
# The wheel for CPython 3.11. The wheels for other versions of Python have the same libraries.
python=3.11
platform=manylinux_2_28_x86_64
sha256=48c2d861134c0b5697c7602cb5ffa68f62a2989fdcd1717e593356f67996ca1e

fail() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

cuda=false
if [ "${1:-}" = --cuda ]; then
  cuda=true
  shift
fi
[ $# -eq 1 ] || fail "usage: fetch_torch.sh [--cuda] FOLDER"
folder=$1
[ "$(uname -m)" = x86_64 ] ||
  fail "knows the package for x86-64 only; elsewhere, give CMake the folder of a torch that pip has" \
    "installed, as -DTANDEM_TORCH="
python3 -m pip --version >/dev/null 2>&1 || fail "needs python3 with pip (Debian: python3-pip)"

# download ARGUMENTS...: of `pip download`, into $partial.
download() {
  python3 -m pip download --quiet --disable-pip-version-check --only-binary :all: \
    --dest "$partial" "$@" >&2 || fail "cannot fetch $*: see which index pip is configured for"
}

# unpack FOLDER: all wheels in $partial, which are removed.
unpack() {
  for wheel in "$partial"/*.whl; do
    python3 -m zipfile -e "$wheel" "$1"
    rm "$wheel"
  done
}

# What torch's package requires of NVIDIA, a line each: "nvidia-nccl-cu13==2.30.7".
requirements() {
  sed -n 's/^Requires-Dist: \(\(cuda-toolkit\|nvidia-\)[^; ]*\).*/\1/p' \
    "$1/torch-$version.dist-info/METADATA"
}

mkdir -p "$(dirname "$folder")"
partial=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$partial"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [ ! -f "$folder/.has_torch-$version" ]; then
  [ ! -e "$folder" ] || fail "$folder exists but holds no torch $version; remove it"
  echo "fetching torch $version (540 MB)" >&2
  download --no-deps --python-version "$python" --platform "$platform" "torch==$version"
  echo "$sha256  $(echo "$partial"/*.whl)" | sha256sum --check --status ||
    fail "torch $version does not have the expected checksum $sha256"
  unpack "$partial/site"
  toolkit=$(requirements "$partial/site" | grep '^cuda-toolkit\[') ||
    fail "torch $version does not say which CUDA it was built with"
  download "cuda-toolkit[cudart,cupti]==${toolkit##*==}"
  unpack "$partial/site"
  touch "$partial/site/.has_torch-$version"
  mv "$partial/site" "$folder"
fi

if $cuda && [ ! -f "$folder/.has_cuda-$version" ]; then
  echo "fetching CUDA's libraries (1,600 MB)" >&2
  # What headers of the CUDA runtime include is in a package that torch does not name.
  toolkit=$(requirements "$folder" | sed -n 's/^cuda-toolkit\[.*==\([0-9]*\.[0-9]*\).*/\1/p')
  # shellcheck disable=SC2046  # one requirement a word
  download $(requirements "$folder") "nvidia-cuda-crt==$toolkit.*"
  unpack "$folder"
  touch "$folder/.has_cuda-$version"
fi
