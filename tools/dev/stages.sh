# Read by ./dev and tools/demo/demo.sh: a long command announces its stages with their number and about
# how long each takes.
#
#   stages=3
#   stage 690 "build: build/release/tandem"
#
# prints `== 1 of 3: build: build/release/tandem, about 6 minutes (0 s since the start) ==` on two
# cores. The first argument is the time of one core in seconds, measured on an AMD EPYC, with
# nothing built before; the number of cores divides it. 0: not known, or nothing
# to wait for.
#
# STAGES_BEFORE (environment) says how many stages the caller has announced already, STAGES_STARTED
# when the first one began.
stages=1
stage_number=${STAGES_BEFORE:-0}
stages_started=${STAGES_STARTED:-$(date +%s)}

jobs() { nproc 2>/dev/null || echo 2; }

stage() {
  stage_seconds=$(($1 / $(jobs)))
  shift
  stage_number=$((stage_number + 1))
  if [ "$stage_seconds" -ge 90 ]; then
    stage_time=", about $(((stage_seconds + 30) / 60)) minutes"
  elif [ "$stage_seconds" -gt 0 ]; then
    stage_time=", about $(((stage_seconds + 9) / 10 * 10)) seconds"
  else
    stage_time=
  fi
  printf '\n== %s of %s: %s%s (%s s since the start) ==\n' "$stage_number" "$stages" "$*" \
    "$stage_time" $(($(date +%s) - stages_started)) >&2
}
