#!/bin/sh
# For a GPU machine that reaches no package index: packs what a build needs beside a compiler, CMake,
# ninja and torch into one archive. carry.sh ARCHIVE.tar.xz
#
# It holds the files of the Debian packages below, as they are installed here, and the libraries that
# they are linked with, without glibc, g++'s own (libgomp among them) and libtorch. On the other
# machine, which needs a glibc at least as new as the one here:
#
#   mkdir carried && tar -xf ARCHIVE.tar.xz -C carried
#   . carried/use.sh
#   cmake --preset cuda -DTANDEM_TORCH=SITE_PACKAGES && cmake --build --preset cuda
#
# SITE_PACKAGES is the folder that has torch/ and nvidia/: of a Python environment there, or one that
# tools/fetch/fetch_torch.sh --cuda has made.
set -eu

packages="libboost-dev libcli11-dev libcmark-gfm-dev libcmark-gfm-extensions-dev libcsv-dev libdnnl-dev
  libfaiss-dev libfmt-dev libgloo-dev libgmock-dev libgtest-dev libgumbo-dev libhwy-dev libpcre2-dev
  librapidcheck-dev libsimdjson-dev libtomlplusplus-dev libxxhash-dev nlohmann-json3-dev
  ocl-icd-opencl-dev zlib1g-dev"
# What they depend on, down to what every Debian or Ubuntu has.
skipped='^(libgomp1|libatomic1|libquadmath0|libc6|libc6-dev|libc-dev-bin|linux-libc-dev|libgcc-s1|libstdc\+\+.*|gcc-.*|libcrypt.*|libtorch.*|adduser|passwd|debconf.*|dpkg|perl.*|tar|python3.*)$'

fail() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}
[ $# -eq 1 ] || fail "usage: carry.sh ARCHIVE.tar.xz"
command -v dpkg-query >/dev/null 2>&1 || fail "copies from Debian's packages, and this is no Debian"
archive=$(realpath -m "$1")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# installed NAME: whether it is, as a package or by another's `Provides`.
installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# All packages that these depend on, one a line.
todo=$packages
: >"$work/packages"
for package in $packages; do
  installed "$package" || fail "$package is not installed: ./dev setup installs what a build needs"
done
while [ -n "$todo" ]; do
  next=
  for package in $todo; do
    if ! grep -qxF "$package" "$work/packages" && installed "$package" &&
      ! echo "$package" | grep -qE "$skipped"; then
      echo "$package" >>"$work/packages"
      next="$next $(dpkg-query -W -f '${Depends}' "$package" | tr ',|' '\n\n' |
        sed 's/(.*//; s/:[a-z0-9]*//; s/ //g' | tr '\n' ' ')"
    fi
  done
  todo=$(echo $next)
done

# Their files, without documentation.
while read -r package; do
  dpkg -L "$package"
done <"$work/packages" | sed 's|^/lib/|/usr/lib/|' | sort -u |
  grep -E '^/usr/(include|lib|share/cmake|share/pkgconfig)/' |
  while read -r file; do
    if [ -f "$file" ] || [ -L "$file" ]; then echo "${file#/}"; fi
  done >"$work/files"
mkdir -p "$work/tree"
tar -C / -cf - -T "$work/files" | tar -C "$work/tree" -xf -
rm -rf "$work"/tree/usr/lib/*/libblas* "$work"/tree/usr/lib/*/liblapack* \
  "$work"/tree/usr/lib/*/blas "$work"/tree/usr/lib/*/lapack
# BLAS is what this machine has chosen among alternatives, which no package lists.
for library in /usr/lib/*/libblas.so.3 /usr/lib/*/liblapack.so.3 /usr/lib/*/libopenblas.so.0; do
  [ -e "$library" ] || continue
  cp -L "$library" "$work/tree$library"
  ln -s "$(basename "$library")" "$work/tree${library%.*}"
done
# FAISS's CMake files name it where it is here.
sed -i 's|;/usr/lib/|;${_IMPORT_PREFIX}/lib/|g' "$work"/tree/usr/lib/*/cmake/faiss/faiss-targets.cmake
cat >"$work/tree/use.sh" <<'END'
# Sourced in the folder above this one's files: lets CMake, the compiler and programs find them.
carried=$PWD/carried
for carried_lib in "$carried"/usr/lib/*-linux-gnu; do :; done
export CMAKE_PREFIX_PATH="$carried/usr${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
export CMAKE_INCLUDE_PATH="$carried/usr/include" CMAKE_LIBRARY_PATH="$carried_lib"
export CPATH="$carried/usr/include:$carried/usr/include/$(basename "$carried_lib")" LIBRARY_PATH="$carried_lib"
export LD_LIBRARY_PATH="$carried_lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export PKG_CONFIG_PATH="$carried_lib/pkgconfig:$carried/usr/share/pkgconfig"
END
tar -C "$work/tree" -cf - . | xz -2 >"$archive"
du -h "$archive"
