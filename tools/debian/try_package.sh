#!/bin/sh
# try_package.sh: run as root in a bare Debian in which tandem.deb is installed. Uses the package, purges
# it, and fails where something is left.
set -eu

fail() {
  echo "try_package.sh: $*" >&2
  exit 1
}

# --- it works ------------------------------------------------------------------------------------
tandem --version
cat >/tmp/case.json <<'END'
[{"objective": "infonce", "parameters": {}, "queries": [[1, 0]], "documents": [[1, 0], [0, 1]],
  "positive": [0], "negative_mask": [[false, true]]}]
END
tandem loss /tmp/case.json >/tmp/loss.json
grep -q loss /tmp/loss.json || fail "tandem loss printed $(cat /tmp/loss.json)"
rm /tmp/case.json /tmp/loss.json

for command in $(tandem list commands --format tsv | cut -f1); do
  [ -s "/usr/share/man/man1/tandem-$command.1.gz" ] || fail "tandem-$command has no manual page"
done
bash -ec '. /usr/share/bash-completion/completions/tandem
  COMP_WORDS=(tandem trai) COMP_CWORD=1; _tandem; [ "${COMPREPLY[*]}" = train ]
  COMP_WORDS=(tandem list --format js) COMP_CWORD=3; _tandem; [ "${COMPREPLY[*]}" = json ]' ||
  fail "bash completes nothing"

# --- it goes ---------------------------------------------------------------------------------------
dpkg -L tandem >/tmp/files
DEBIAN_FRONTEND=noninteractive apt-get -q -y purge tandem >/tmp/purge.log 2>&1 || {
  cat /tmp/purge.log >&2
  fail "it cannot be purged"
}
left=$(find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /data -o -path /srv -o -path /src \) -prune \
  -o -iname '*tandem*' -print)
while read -r file; do
  # A folder that another package has too stays.
  [ ! -e "$file" ] || { [ -d "$file" ] && [ "$file" = /. ]; } || dpkg -S "$file" >/dev/null 2>&1 ||
    left="$left $file"
done </tmp/files
rm /tmp/files /tmp/purge.log
[ -z "$left" ] || fail "this is left:" $left
echo "installed, used and purged"
