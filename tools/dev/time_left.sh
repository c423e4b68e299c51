# Read by ./dev: says in each of ninja's lines how long the rest takes at the pace so far.
#
#   NINJA_STATUS='[%f of %t, %e s] ' ninja 2>&1 | time_left
#
# makes "[60 of 126, 300 s, about 6 minutes left] Building ..." of "[60 of 126, 300.1 s] Building ...".
# Ninja itself can do so from 1.12 on, which Debian 12 does not have. Steps take different times, so that
# it says nothing of the first few. In a terminal a line takes the place of the one before it.

# Steps and seconds from which on a pace says something.
least_steps=5
least_seconds=20

duration() {
  if [ "$1" -ge 90 ]; then
    echo "$((($1 + 30) / 60)) minutes"
  else
    echo "$((($1 + 9) / 10 * 10)) seconds"
  fi
}

# with_time_left LINE: sets `shown`, and `progress` to whether it is a line of ninja's progress.
with_time_left() {
  shown=$1 progress=
  case $1 in '['[0-9]*' of '[0-9]*', '[0-9]*' s] '*) ;; *) return 0 ;; esac
  progress=yes
  done_steps=${1#[} done_steps=${done_steps%% *}
  all_steps=${1#* of } all_steps=${all_steps%%,*}
  seconds=${1#*, } seconds=${seconds%% *} seconds=${seconds%%.*}
  case $done_steps$all_steps$seconds in *[!0-9]*) return 0 ;; esac
  [ "$done_steps" -ge "$least_steps" ] && [ "$seconds" -ge "$least_seconds" ] || return 0
  [ "$done_steps" -lt "$all_steps" ] || return 0
  left=$((seconds * (all_steps - done_steps) / done_steps))
  shown="[$done_steps of $all_steps, $seconds s, about $(duration "$left") left] ${1#*] }"
}

time_left() {
  columns=0 drawn=
  if [ -t 1 ]; then columns=$(stty size 2>/dev/null </dev/tty | cut -d ' ' -f 2) || columns=0; fi
  while IFS= read -r line; do
    with_time_left "$line"
    if [ "${columns:-0}" -gt 20 ] && [ -n "$progress" ]; then
      printf '\r\033[K%.*s' "$((columns - 1))" "$shown"
      drawn=yes
    else
      [ -z "$drawn" ] || printf '\n'
      printf '%s\n' "$shown"
      drawn=
    fi
  done
  [ -z "$drawn" ] || printf '\n'
}
