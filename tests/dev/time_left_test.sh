# What `./dev build` shows of a build's time left: sh time_left_test.sh FOLDER_OF_THE_SOURCES
set -eu
. "$1/tools/dev/time_left.sh"

failed=0
# expect LINE SHOWN
expect() {
  got=$(printf '%s\n' "$1" | time_left)
  [ "$got" = "$2" ] && return
  printf 'of:       %s\nexpected: %s\nfound:    %s\n' "$1" "$2" "$got" >&2
  failed=1
}

expect '[60 of 126, 300.1 s] Building a.o' '[60 of 126, 300 s, about 6 minutes left] Building a.o'
expect '[100 of 125, 100.9 s] Building [x] y' '[100 of 125, 100 s, about 30 seconds left] Building [x] y'
# Too few steps, too little time, the last step.
expect '[4 of 126, 300.1 s] Building a.o' '[4 of 126, 300.1 s] Building a.o'
expect '[60 of 126, 9.5 s] Building a.o' '[60 of 126, 9.5 s] Building a.o'
expect '[126 of 126, 300.1 s] Linking a' '[126 of 126, 300.1 s] Linking a'
# What a compiler says stays as it is.
expect '  a.cc:3: [60 of 126] \n%d%s' '  a.cc:3: [60 of 126] \n%d%s'
expect '[many of 126, x s] a' '[many of 126, x s] a'
[ "$(printf 'a\n\n b\n' | time_left)" = "$(printf 'a\n\n b')" ] || failed=1
exit "$failed"
