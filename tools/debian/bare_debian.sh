#!/bin/sh
# bare_debian.sh SUITE FOLDER COMMAND: runs a shell command as root in a bare Debian (bookworm,
# trixie, ...) that debootstrap makes in FOLDER when it is not there yet. Needs root.
#
# The system has what debootstrap calls minbase, and git. This machine's name servers, certificates,
# and settings of apt (proxies) and pip apply in it, its environment does not. DEBIAN_MIRROR names
# another mirror. /proc, /dev and /sys are mounted in a mount namespace of the command's own, so that
# nothing stays mounted.
set -eu

[ $# -eq 3 ] || {
  echo "usage: bare_debian.sh SUITE FOLDER COMMAND" >&2
  exit 2
}
suite=$1
root=$2
command=$3

# Copies a file of this machine to the same place in the system, where there is one.
copy() {
  [ ! -e "$1" ] || {
    mkdir -p "$root$(dirname "$1")"
    cp "$1" "$root$1"
  }
}

inside() {
  unshare --mount --propagation private sh -eu -c '
    root=$1
    for folder in proc dev sys; do mount --rbind "/$folder" "$root/$folder"; done
    exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
      LANG=C.UTF-8 chroot "$root" /bin/sh -c "$2"' sh "$root" "$1"
}

if [ ! -e "$root/bare_debian.complete" ]; then
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase "$suite" "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$root.log" ||
    {
      tail -20 "$root.log" >&2
      exit 1
    }
  apt-config dump Acquire >"$root/etc/apt/apt.conf.d/90host"
  for file in /usr/local/share/ca-certificates/*.crt /etc/pip.conf; do copy "$file"; done
  inside 'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y install \
    --no-install-recommends git ca-certificates && update-ca-certificates' >>"$root.log" 2>&1 || {
    tail -20 "$root.log" >&2
    exit 1
  }
  touch "$root/bare_debian.complete"
fi
copy /etc/resolv.conf
inside "$command"
