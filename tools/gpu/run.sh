#!/bin/sh
# On a GPU machine: builds Tandem with its back end for GPUs out of what tools/gpu/pack.sh has packed,
# tests it, compares its losses on the GPU with the processor's, and its speed with
# sentence-transformers'. It asks the network for nothing.
#
#   mkdir packed && tar -C packed -xf ARCHIVE.tar
#   sh packed/run.sh            # again, until it says no more that time is up
#
# Needs g++, CMake 3.25, ninja, xz, and a Python whose torch is built with CUDA (PYTHON; python3), with
# transformers and safetensors for models; sentence-transformers to be compared with. A call ends after
# SECONDS_A_CALL (560) at the latest, with exit 75 where steps are left: a build goes on where it was, a
# step that held is not done again, any other one begins anew. Exit 1: a step failed. Everything is
# written into WORK (packed/work): steps/NAME.log what each said, steps/table.txt the end's table.
#
# Without a GPU the steps that need one say so; those that show that building, linking and measuring
# work are done on the processor, with a small model.
#
# STEPS="NAME..." runs these steps only, also those that held before. JOBS: compilers and tests at once
# (as many as processors). CMAKE_ARGUMENTS: further ones for CMake.
set -eu

packed=$(cd "$(dirname "$0")" && pwd)
work=${WORK:-$packed/work}
python=${PYTHON:-python3}
call_seconds=${SECONDS_A_CALL:-560}
jobs=${JOBS:-$(nproc)}
started=$(date +%s)
sources=$work/sources
build=$work/build
tandem=$build/tandem
steps=$work/steps
mkdir -p "$steps"

say() { printf '%s\n' "gpu: $*" >&2; }
left() { echo $((call_seconds - $(date +%s) + started)); }

# A GPU that the driver shows. What libtorch says of it, the steps say.
has_gpu() { command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L 2>/dev/null | grep -q '^GPU '; }
gpu=false
! has_gpu || gpu=true

# --- steps ---------------------------------------------------------------------------------------

unpack() {
  rm -rf "$work/carried.new"
  mkdir -p "$sources" "$work/carried.new"
  xz -dc "$packed/sources.tar.xz" | tar -C "$sources" -xf -
  xz -dc "$packed/carried.tar.xz" | tar -C "$work/carried.new" -xf -
  rm -rf "$work/carried"
  mv "$work/carried.new" "$work/carried"
}

# What is carried, for CMake, the compiler and programs.
use_carried() {
  cd "$work"
  . carried/use.sh
}

# Where headers of the toolkit are looked for that packages of PyPI lack.
if [ -z "${CUDA_HOME:-}" ] && nvcc=$(command -v nvcc); then
  CUDA_HOME=$(dirname "$(dirname "$(realpath "$nvcc")")")
  export CUDA_HOME
fi

site_packages() {
  "$python" -c 'import os, importlib.util as u; print(os.path.dirname(os.path.dirname(u.find_spec("torch").origin)))'
}

configure() {
  g++ --version | head -1
  cmake --version | head -1
  "$python" -c 'import torch; print("torch", torch.__version__)'
  cmake -S "$sources" -B "$build" --preset cuda -Wno-dev "-DTANDEM_TORCH=$(site_packages)" \
    -DTANDEM_WITH_BENCHMARKS=OFF ${CMAKE_ARGUMENTS:-}
}

build_targets() { cmake --build "$build" --parallel "$jobs" --target "$@"; }
build_program() { build_targets tandem_cli; }
build_plug_in() { build_targets tandem_torch_plugin; }
build_tests() { build_targets tests_of_back_end; }

run_tests() { ctest --test-dir "$build" --output-on-failure --parallel "$jobs" "$@"; }
# Tests that passed in an earlier call are not run again.
test_on_processor() {
  passed=$(cat "$work"/ctest.*.log 2>/dev/null |
    sed -n 's/^.* Test *#[0-9]*: \(.*\) \.\.\.* *Passed .*$/\1/p' | sed 's/[.]/\\./g' | tr '\n' '|')
  ctest_log=$work/ctest.$(date +%s).log
  status=0
  if [ -n "$passed" ]; then
    run_tests -L back_end -E "^(${passed%|})$" --no-tests=ignore >"$ctest_log" 2>&1 || status=$?
  else
    run_tests -L back_end --no-tests=error >"$ctest_log" 2>&1 || status=$?
  fi
  cat "$ctest_log"
  return "$status"
}
# One at a time: each has the GPU's memory to itself. None may be skipped for want of a GPU.
test_on_gpu() {
  run_tests -L gpu --no-tests=error --parallel 1 >"$work/ctest_gpu.log" 2>&1 || {
    cat "$work/ctest_gpu.log"
    return 1
  }
  cat "$work/ctest_gpu.log"
  ! grep -q 'Skipped' "$work/ctest_gpu.log"
}

ask_for_gpu() {
  "$tandem" version
  if $gpu; then
    nvidia-smi
    return 0
  fi
  # Without one it must say so, and nothing else.
  said=$("$tandem" encode "$work/models/small" "$packed/data/corpus.jsonl" --device cuda --output - 2>&1) && return 1
  printf '%s\n' "$said"
  printf '%s\n' "$said" | grep -q 'built with CUDA, but this machine has no device'
}

make_models() {
  make() { "$python" "$sources/bench/made_models.py" "$@" --tokenizer "$packed/tokenizer"; }
  make minilm-l6 "$work/models/small" --layers 2
  if $gpu; then
    make minilm-l6 "$work/models/minilm-l6"
    make bert-base "$work/models/bert-base"
  fi
}

losses() {
  "$python" "$sources/tools/gpu/losses.py" --program "$tandem" --data "$packed/data" --work "$work/losses" "$@"
}
losses_on_processor() { losses --model "$work/models/small" --on portable --small; }
losses_on_gpu() { losses --model "$work/models/minilm-l6" --on cuda; }

speed() {
  "$python" "$sources/tools/gpu/speed.py" --program "$tandem" --data "$packed/data" --work "$work/speed" \
    --peer "$sources/bench/peer_sentence_transformers.py" --peer-python "$python" "$@"
}
speed_on_processor() { speed --device cpu --steps 5 --batches 8 "$work/models/small"; }
speed_of_minilm() { speed --device cuda --least 1 "$work/models/minilm-l6"; }
speed_of_bert() { speed --device cuda --least 1 "$work/models/bert-base"; }

# --- the order, and what holds -------------------------------------------------------------------

outcome() { printf '%s\n' "$2" >"$steps/$1.outcome"; }
held() { [ -f "$steps/$1.outcome" ] && grep -q '^held' "$steps/$1.outcome"; }

# step NAME SECONDS FUNCTION TEXT: one that takes so long at most must have that much time left in this
# call. 0: one that goes on where it was interrupted, a build or tests.
failed=false
step() {
  name=$1 seconds=$2 function=$3
  shift 3
  if [ -n "${STEPS:-}" ]; then
    case " $STEPS " in *" $name "*) ;; *) return 0 ;; esac
  elif held "$name"; then
    return 0
  fi
  if $failed; then
    outcome "$name" "not run: a step before it failed"
    return 0
  fi
  case $name in
    *_on_gpu | speed_of_*)
      if ! $gpu; then
        outcome "$name" "no GPU: not run"
        return 0
      fi
      ;;
  esac
  allowed=$(left)
  if [ "$allowed" -lt "$seconds" ] && [ "$seconds" -lt "$call_seconds" ] || [ "$allowed" -lt 20 ]; then
    time_is_up "$name"
  fi
  say "$name: $*"
  began=$(date +%s)
  # A process group of its own, so that the compilers of an interrupted build end too.
  status=0
  RUN_STEP=$function timeout --kill-after=10 "$allowed" sh "$0" >"$steps/$name.log" 2>&1 || status=$?
  took=$(($(date +%s) - began))
  if [ "$status" = 0 ]; then
    outcome "$name" "held, $took s"
    tail -n 40 "$steps/$name.log" | grep '^= ' >&2 || true
  elif [ "$status" = 124 ] || [ "$status" = 137 ]; then
    if [ "$seconds" = 0 ] || [ "$allowed" -lt $((call_seconds - 30)) ]; then
      time_is_up "$name"
    fi
    outcome "$name" "FAILED: it took longer than a whole call"
    failed=true
  else
    outcome "$name" "FAILED with $status after $took s: $steps/$name.log"
    tail -n 60 "$steps/$name.log" >&2
    case $name in
      # Each says something of its own; the others go on.
      test_* | losses_* | speed_*) step_failed=true ;;
      *) failed=true ;;
    esac
  fi
}
step_failed=false

time_is_up() {
  say "time is up before $1 is done: call it again"
  exit 75
}

table() {
  for name in $all_steps; do
    [ ! -f "$steps/$name.outcome" ] ||
      printf '%-20s %s\n' "$name" "$(cat "$steps/$name.outcome")"
    # Lines of figures begin with `= `.
    [ ! -f "$steps/$name.log" ] || sed -n 's/^= /    /p' "$steps/$name.log"
  done
}
all_steps="unpack configure build_program build_plug_in build_tests make_models ask_for_gpu test_on_processor
  losses_on_processor speed_on_processor test_on_gpu losses_on_gpu speed_of_minilm speed_of_bert"

if [ -n "${RUN_STEP:-}" ]; then
  [ "$RUN_STEP" = unpack ] || use_carried
  $RUN_STEP
  exit
fi

# Another archive: everything is looked at anew; what ninja has built stays.
stamp=$(cksum "$packed/sources.tar.xz" "$packed/carried.tar.xz" | cksum)
if [ "$(cat "$steps/archive" 2>/dev/null)" != "$stamp" ]; then
  rm -f "$steps"/*.outcome "$steps"/*.log "$work"/ctest.*.log
  echo "$stamp" >"$steps/archive"
fi

step unpack 60 unpack "the archive's parts"
step configure 60 configure "CMake, preset cuda"
step build_program 0 build_program "the program"
step build_plug_in 0 build_plug_in "libtandem-torch.so with CUDA and NCCL"
step build_tests 0 build_tests "the tests of the back end"
step make_models 60 make_models "model folders with made-up weights"
step ask_for_gpu 30 ask_for_gpu "what the program says of this machine's GPU"
step test_on_gpu 150 test_on_gpu "the back end's tests, computed on the GPU"
step losses_on_gpu 150 losses_on_gpu "losses of training on the GPU and on the processor"
step speed_of_minilm 200 speed_of_minilm "training beside sentence-transformers, MiniLM's shape"
step speed_of_bert 270 speed_of_bert "training beside sentence-transformers, BERT-base's shape"
step test_on_processor 0 test_on_processor "the back end's tests, on the processor"
step losses_on_processor 200 losses_on_processor "losses in the forms of a GPU, on the processor"
step speed_on_processor 200 speed_on_processor "that speed is measured, on the processor"

table | tee "$steps/table.txt"
if $failed || $step_failed || grep -q FAILED "$steps"/*.outcome; then exit 1; fi
