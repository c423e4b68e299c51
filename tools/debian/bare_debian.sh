#!/bin/sh
# bare_debian.sh SUITE FOLDER COMMAND: runs a shell command as root in a bare Debian (bookworm,
# trixie, ...) that debootstrap makes in FOLDER when it is not there yet. Needs root.
#
# The system has what debootstrap calls minbase, and git. This machine's name servers, certificates,
# and settings of apt (proxies) and pip apply in it, its environment does not. DEBIAN_MIRROR names
# another mirror. /proc, /dev and /sys are mounted in a mount namespace of the command's own, so that
# nothing stays mounted; so are, to be read only, the folders that DEBIAN_FOLDERS names, at their own
# places. DEBIAN_NETWORK=none: the command has a loopback device and no other.
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

# inside COMMAND [FOLDER...]
inside() {
  unshare --mount $no_network --propagation private sh -eu -c '
    root=$1 no_network=$2 command=$3
    shift 3
    for folder in proc dev sys; do mount --rbind "/$folder" "$root/$folder"; done
    for folder in "$@"; do
      mkdir -p "$root$folder"
      mount --bind "$folder" "$root$folder"
      mount -o remount,bind,ro "$root$folder"
    done
    if [ -n "$no_network" ]; then
      # SIOCSIFFLAGS, IFF_UP and IFF_RUNNING: minbase and many hosts have no ip.
      python3 -c "import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack(\"16sh\", b\"lo\", 0x41))"
    fi
    exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
      LANG=C.UTF-8 chroot "$root" /bin/sh -c "$command"' sh "$root" "$no_network" "$@"
}
no_network=

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
[ "${DEBIAN_NETWORK:-}" != none ] || no_network=--net
inside "$command" ${DEBIAN_FOLDERS:-}
