#!/bin/sh
# server_root.sh FOLDER: where the package tandem is installed, makes the root of a system that can run
# tandem and nothing else: the program, the shared libraries that it loads, their licences, a user
# 10001, /data and /tmp. For the container's last stage.
set -eu

[ $# -eq 1 ] || {
  echo "usage: server_root.sh FOLDER" >&2
  exit 2
}
root=$1
mkdir -p "$root/data" "$root/etc" "$root/tmp" "$root/usr/lib" "$root/usr/lib64"
ln -s usr/lib "$root/lib"  # as in Debian: a library has one place
ln -s usr/lib64 "$root/lib64"
chmod 1777 "$root/tmp"
echo 'tandem:x:10001:10001:tandem:/nonexistent:/sbin/nologin' >"$root/etc/passwd"
echo 'tandem:x:10001:' >"$root/etc/group"

# The package that has a file; its list may name it with or without /usr.
package_of() {
  file=$(readlink -f "$1")
  for name in "$file" "/usr$file" "${file#/usr}"; do
    if found=$(dpkg -S "$name" 2>/dev/null); then
      echo "${found%%:*}"
      return
    fi
  done
  echo "server_root.sh: no package has $file" >&2
  exit 1
}

# Copies files under the names by which they are asked for, as files and not as links, each with the
# licences of its package.
copy() {
  for file in "$@"; do
    mkdir -p "$root$(dirname "$file")"
    cp -L "$file" "$root$file"
    package=$(package_of "$file")
    mkdir -p "$root/usr/share/doc/$package"
    cp -L "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/"
  done
}

# Absolute paths of the libraries that files are linked with, the dynamic linker among them.
libraries_of() { ldd "$@" | grep -oE '/[^ :]+\.so[^ :]*' | sort -u; }

# What the program loads only where it needs it: BLAS and LAPACK, for approximate indexes.
folder=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || uname -m | sed 's/$/-linux-gnu/')
loaded="$folder/libblas.so.3 $folder/liblapack.so.3"
copy /usr/bin/tandem $loaded
copy $(libraries_of /usr/bin/tandem $loaded)
