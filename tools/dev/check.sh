# Read by ./dev: `./dev check`, what takes long or needs root. Each part says at its end whether it
# held; a part that this machine cannot do is skipped with its reason, and the rest goes on.

check_summary=""
check_failed=false
packages_without_back_end=$packages  # `setup` adds those of the back end

# part NAME SECONDS TEXT FUNCTION: announces and runs one part in a process of its own.
part() {
  stage "$2" "$1: $3"
  set +e  # not `if ( ... )`: there a failure in the middle would not end the part
  (
    set -e
    "$4"
  )
  status=$?
  set -e
  if [ "$status" = 0 ]; then
    check_summary="$check_summary
  $1: held"
  else
    check_summary="$check_summary
  $1: FAILED"
    check_failed=true
  fi
}

skip() {
  stage 0 "$1: skipped, $2"
  check_summary="$check_summary
  $1: skipped, $2"
}

# --- other suites --------------------------------------------------------------------------------

# clone_into ROOT: what is committed here becomes /srv/tandem of a bare Debian.
# The reference data beside this checkout is copied beside the clone.
clone_into() {
  rm -rf "$1/srv/tandem"
  git clone -q "$PWD" "$1/srv/tandem"
  if [ -d ../shared ]; then
    mkdir -p "$1/srv/shared"
    cp -ru ../shared/data ../shared/vectors "$1/srv/shared/"
  fi
}

# What a new user types, on a bare Debian that has git and nothing else, with what is committed here;
# then the same tests with the back end.
check_suite() {
  root=$PWD/.cache/debian/$suite
  sh tools/debian/bare_debian.sh "$suite" "$root" true
  clone_into "$root"
  sh tools/debian/bare_debian.sh "$suite" "$root" \
    "cd /srv/tandem && export CCACHE_DIR=/srv/ccache DEMO=${DEMO:-tiny} && ./dev demo && ./dev test &&
     TANDEM_WITH_TORCH=ON ./dev test"
}

# Compiles what is committed here for arm64, and runs tests under qemu-user, in a bare Debian 12.
check_arm64() {
  root=$PWD/.cache/debian/arm64
  sh tools/debian/bare_debian.sh bookworm "$root" true
  clone_into "$root"
  rm -rf "$root/srv/model" "$root/srv/tokenizer"
  cp -rL "$model" "$root/srv/model"
  [ ! -d "$llama_tokenizer" ] || cp -rL "$llama_tokenizer" "$root/srv/tokenizer"
  shared=$([ ! -d ../shared ] || echo there)
  sh tools/debian/bare_debian.sh bookworm "$root" \
    "cd /srv/tandem && export CCACHE_DIR=/srv/ccache TANDEM_MODEL_DIR=/srv/model \
       TANDEM_LLAMA_TOKENIZER=/srv/tokenizer ${shared:+TANDEM_REQUIRE_DATA=1} &&
     sh tools/debian/cross_arm64.sh '$packages_without_back_end'"
}

# The container's steps with what is here; then the package is used and purged where it was installed.
check_package() {
  work=$PWD/.cache/debian/package
  mkdir -p "$work"
  root=$(python3 tools/debian/run_dockerfile.py --suite "$suite" --work "$work" --data "$model")
  ! command -v lintian >/dev/null 2>&1 ||
    lintian --fail-on error "$work/$suite-build/src/build/package/tandem.deb"
  cp tools/debian/try_package.sh "$root/srv/"
  sh tools/debian/bare_debian.sh "$suite" "$root" "sh /srv/try_package.sh"
}

# in_debian NAME SECONDS TEXT FUNCTION: a part that makes a bare Debian.
in_debian() {
  if [ "$(id -u)" != 0 ]; then
    skip "$1" "debootstrap needs root"
  elif ! command -v debootstrap >/dev/null 2>&1; then
    skip "$1" "there is no debootstrap (apt-get install debootstrap)"
  else
    part "$@"
  fi
}

# on_suites PREFIX SECONDS TEXT FUNCTION: a part for each suite, in bare Debians.
on_suites() {
  for suite in ${SUITES:-bookworm trixie}; do in_debian "$1$suite" "$2" "$3" "$4"; done
}

# --- links ---------------------------------------------------------------------------------------

run_links() { python3 tools/checks/check_links.py; }

# --- every file by itself -------------------------------------------------------------------------

# The other builds compile files in groups, where one file's includes serve the next.
run_files() {
  configure release -B build/files -DTANDEM_UNITY_BUILD=OFF -DTANDEM_PRECOMPILED_HEADERS=OFF \
    -DTANDEM_WARNINGS_AS_ERRORS=ON
  cmake --build build/files --parallel "$(jobs)" >&2
}

# --- installed headers ---------------------------------------------------------------------------

# Each header that is installed compiles by itself, where nothing else of Tandem is.
run_headers() {
  build_targets release all
  cmake -DBUILD="$PWD/build/release" -DCONSUMER="$PWD/tests/install/consumer" \
    -DSCRATCH="$PWD/build/headers" -DCOMPONENT=torch -DALONE=ON -DCOMPILER=c++ -DGENERATOR=Ninja \
    -P tests/install/consume.cmake
}

# --- portable forms ------------------------------------------------------------------------------

# All tests; those of what only the kernels promise say so and are skipped. Programs of tests load no
# plug-in: those with models in them have a second program, which has the back end.
run_portable() {
  build_targets release "all portable_tests"
  TANDEM_FORMS=portable run_tests release --build-config portable --label-exclude own_forms
}

# --- kill -9 -------------------------------------------------------------------------------------

run_kills() {
  build_targets release "$programs"
  python3 tools/demo/package_dataset.py --index demo/index --output demo/tiny/data --size tiny
  python3 tools/checks/kill_resume.py --program build/release/tandem --model "$model" \
    --data demo/tiny/data --kills "${KILLS:-100}"
}

# --- launchers -----------------------------------------------------------------------------------

# Processes that train together under mpirun, Slurm and torchrun, and with faults. TORCHRUN=PROGRAM is
# torchrun of a torch from PyPI, which is installed into .cache/torchrun otherwise.
run_launchers() {
  missing=$(missing_of openmpi-bin slurm-wlm munge)
  if [ -n "$missing" ]; then
    quietly build/launchers.log ${as_root:-} apt-get -q update
    quietly build/launchers.log ${as_root:-} env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
      --no-install-recommends -o Dpkg::Use-Pty=0 install $missing
  fi
  torchrun=${TORCHRUN:-$PWD/.cache/torchrun/bin/torchrun}
  if [ ! -x "$torchrun" ]; then
    [ -z "${TORCHRUN:-}" ] || fail "TORCHRUN=$TORCHRUN is no program"
    quietly build/launchers.log python3 -m venv .cache/torchrun
    quietly build/launchers.log .cache/torchrun/bin/pip install torch numpy
  fi
  build_targets release "$programs"
  python3 tools/demo/package_dataset.py --index demo/index --output demo/tiny/data --size tiny
  python3 tools/checks/check_launchers.py --program build/release/tandem --model "$model" \
    --data demo/tiny/data --torchrun "$torchrun"
}

# --- network -------------------------------------------------------------------------------------

# Slow and long lines between two network namespaces, and one that is cut.
run_network() {
  build_targets release "$programs"
  python3 tools/demo/package_dataset.py --index demo/index --output demo/tiny/data --size tiny
  python3 tools/checks/check_network.py --program build/release/tandem --model "$model" \
    --data demo/tiny/data
}

# --- scale ---------------------------------------------------------------------------------------

# Reading, checking and training with a data set of MS MARCO's size, in 6 GiB.
run_scale() {
  build_targets release "$programs"
  sources=${SCALE_SOURCES:-../shared/data/squad-v1.1 ../shared/data/medquad ../shared/data/scifact}
  python3 tools/checks/scale.py --program build/release/tandem --model "$model" \
    --work "${SCALE_WORK:-.cache/scale}" --documents "${SCALE_DOCUMENTS:-8841823}" \
    --queries "${SCALE_QUERIES:-500000}" $sources
}

# --- sanitizers ----------------------------------------------------------------------------------

# sanitized_runs PRESET SANITIZERS: training, and what is done with a model.
sanitized_runs() {
  python3 tools/checks/check_sanitizers.py --build "build/$1" --sanitizers "$2" --model "$model"
}

# With clang and its OpenMP, whose tool Archer tells ThreadSanitizer what threads of OpenMP wait for;
# g++'s does not. tools/checks/check_sanitizers.py says why kernels for SSE4 are used.
run_thread_sanitizer() {
  build_targets tsan-openmp all -DTANDEM_WARNINGS_AS_ERRORS=ON
  export TSAN_OPTIONS="suppressions=$PWD/tools/dev/tsan.supp"
  sanitized_runs tsan-openmp thread
  TANDEM_ISA=baseline run_tests tsan-openmp
}

run_address_sanitizer() {
  build_targets asan all -DTANDEM_WARNINGS_AS_ERRORS=ON
  export ASAN_OPTIONS=detect_leaks=1
  sanitized_runs asan address,undefined
  run_tests asan
}

# --- clang ---------------------------------------------------------------------------------------

run_clang() {
  build_targets clang all -DTANDEM_WARNINGS_AS_ERRORS=ON
  run_tests clang
}

# Whether there is clang++ with its OpenMP.
has_clang() {
  command -v clang++ >/dev/null 2>&1 || return 1
  echo '#include <omp.h>' | clang++ -fopenmp -x c++ -fsyntax-only - 2>/dev/null
}

# --- pages ---------------------------------------------------------------------------------------

# Pages of made runs: one, two beside each other, one that has only begun, one of hostile texts, a sweep.
# Then the page of the server.
run_pages() {
  build_targets release "tandem_cli report_example"
  rm -rf build/pages
  mkdir -p build/pages
  build/release/tests/report/report_example build/pages
  for run in one half hostile many; do
    build/release/tandem report "build/pages/$run" --output "build/pages/$run/report/page"
  done
  build/release/tandem report build/pages/one build/pages/two --output build/pages/both/report/page
  python3 tools/checks/check_pages.py --pictures build/pages/pictures build/pages/*/report/page/index.html
  python3 tools/checks/check_search_page.py --pictures build/pages/pictures
}

# --- how to add an entry -------------------------------------------------------------------------

# What docs/architecture.md says about adding a measure, word for word, in a copy of the sources.
run_entries() {
  python3 tools/checks/check_entries.py
}

# --- meanings ------------------------------------------------------------------------------------

# Inputs that can be misread in silence; with PEER_PYTHON beside the peers whose formats they have.
run_meanings() {
  build_programs
  python3 tools/checks/check_meanings.py --program build/release/tandem --model "$model" \
    ${PEER_PYTHON:+--peer-python "$PEER_PYTHON"}
  python3 tools/checks/check_tables.py --program build/release/tandem \
    ${PEER_PYTHON:+--peer-python "$PEER_PYTHON"}
}

# --- server --------------------------------------------------------------------------------------

# Clients of other programs agree with `tandem serve`, and it stands load with faults. With
# PEER_PYTHON=python the openai package and sentence-transformers are among them.
run_serve() {
  build_targets release "$programs"
  python3 tools/checks/check_serve.py --program build/release/tandem --model "$model" \
    --seconds "${SERVE_SECONDS:-600}"
}

# --- PyPI's torch --------------------------------------------------------------------------------

# All tests against PyPI's torch. TORCH=FOLDER is one that tools/fetch/fetch_torch.sh or pip has made, which
# is fetched into .cache/torch otherwise.
run_libtorch() {
  [ -n "${TORCH:-}" ] || sh tools/fetch/fetch_torch.sh .cache/torch
  build_targets pypi all -DTANDEM_WARNINGS_AS_ERRORS=ON "-DTANDEM_TORCH=${TORCH:-$PWD/.cache/torch}"
  run_tests pypi
}

# --- GPU -----------------------------------------------------------------------------------------

# run_packed COMMAND...: until it no longer says that time is up. Nothing limits a call here, and a
# short one would be over before ctest says which test hangs.
run_packed() {
  while :; do
    status=0
    "$@" || status=$?
    [ "$status" = 75 ] || return "$status"
  done
}

# What tools/gpu/pack.sh packs, run on this machine's GPU; without one, in a bare Debian that has what a
# GPU machine has: a compiler, CMake, ninja, the CUDA toolkit where this machine has one, and the Python
# environment TORCH_ENVIRONMENT, but no network and no other packages. It is newer than what is packed.
run_gpu() {
  sh tools/gpu/pack.sh "$model" build/gpu/tandem-gpu.tar
  if has_gpu; then
    packed=${GPU_WORK:-$PWD/.cache/gpu}
    mkdir -p "$packed"
    tar -C "$packed" -xf build/gpu/tandem-gpu.tar
    PYTHON=$TORCH_ENVIRONMENT/bin/python SECONDS_A_CALL=7200 run_packed sh "$packed/run.sh"
    return
  fi
  suite=${GPU_SUITE:-trixie}
  root=$PWD/.cache/debian/gpu-$suite
  sh tools/debian/bare_debian.sh "$suite" "$root" \
    'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install \
       g++ cmake ninja-build python3 xz-utils' >build/gpu/debian.log 2>&1
  mkdir -p "$root/srv/gpu"
  tar -C "$root/srv/gpu" -xf build/gpu/tandem-gpu.tar
  prefix=$("$TORCH_ENVIRONMENT/bin/python" -c 'import sys; print(sys.base_prefix)')
  [ "$prefix" != /usr ] || prefix=
  [ ! -d /usr/local/cuda ] || cuda="/usr/local/cuda $(realpath /usr/local/cuda)"
  DEBIAN_NETWORK=none DEBIAN_FOLDERS="$TORCH_ENVIRONMENT $prefix ${cuda:-}" run_packed \
    sh tools/debian/bare_debian.sh "$suite" "$root" \
    "PYTHON=$TORCH_ENVIRONMENT/bin/python SECONDS_A_CALL=7200 JOBS=$(jobs) sh /srv/gpu/run.sh"
}

has_gpu() { command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L 2>/dev/null | grep -q '^GPU '; }

# --- fuzzers -------------------------------------------------------------------------------------

run_fuzzers() {
  build_targets fuzz all
  for fuzzer in build/fuzz/fuzz/fuzz_*; do
    [ -x "$fuzzer" ] && [ ! -d "$fuzzer" ] || continue
    name=$(basename "$fuzzer")
    say "$name for ${FUZZ_SECONDS:-60} s"
    mkdir -p ".cache/fuzz/$name"
    dictionary=fuzz/${name#fuzz_}.dict
    quietly "build/fuzz/$name.log" "$fuzzer" -max_total_time="${FUZZ_SECONDS:-60}" \
      -artifact_prefix="build/fuzz/$name-" $([ ! -f "$dictionary" ] || echo "-dict=$dictionary") \
      ".cache/fuzz/$name"
  done
}

# -------------------------------------------------------------------------------------------------

# check [PART...]
check() {
  [ $# -gt 0 ] || set -- links files headers portable entries meanings kills launchers network scale pages python serve package sanitizers clang libtorch gpu arm64 fuzz suites
  stages=3
  for name in "$@"; do
    case $name in
      links | files | headers | portable | entries | meanings | kills | launchers | network | scale | pages | python | serve | clang | libtorch | gpu | arm64 | fuzz) stages=$((stages + 1)) ;;
      sanitizers) stages=$((stages + 2)) ;;
      suites | package) for suite in ${SUITES:-bookworm trixie}; do stages=$((stages + 1)); done ;;
      *) fail "check has no part $name; it has suites, links, files, headers, portable, entries, meanings, kills, launchers, network, scale, pages, python, serve, package, sanitizers, clang, libtorch, gpu, arm64 and fuzz" ;;
    esac
  done
  use_back_end ON
  case " $* " in *" python "*) packages="$packages $wheel_packages" ;; esac
  setup
  find_model
  find_tokenizer
  for name in "$@"; do
    case $name in
      links) part links 1 "where the documentation's links and paths lead" run_links ;;
      files) part files 0 "every file compiles by itself" run_files ;;
      headers) part headers 300 "every installed header compiles by itself" run_headers ;;
      portable) part portable 2400 "what a GPU runs, on the CPU, over all tests" run_portable ;;
      entries) part entries 300 "a measure is added as docs/architecture.md says" run_entries ;;
      meanings) part meanings 900 "files that can be misread, beside their peers" run_meanings ;;
      kills) part kills 3000 "kill -9 at random moments, then --resume" run_kills ;;
      launchers)
        part launchers 900 "several processes under launchers, and with faults" run_launchers
        ;;
      network)
        if [ "$(id -u)" != 0 ]; then
          skip network "network namespaces need root"
        elif ! command -v tc >/dev/null 2>&1; then
          skip network "there is no tc (apt-get install iproute2)"
        else
          part network 400 "slow, long and cut lines between two processes" run_network
        fi
        ;;
      scale) part scale 600 "training with as many documents as MS MARCO, in 6 GiB" run_scale ;;
      pages)
        if command -v chromium-headless-shell >/dev/null 2>&1; then
          part pages 60 "report pages and the server's page in a headless browser" run_pages
        else
          skip pages "there is no browser (apt-get install chromium-headless-shell)"
        fi
        ;;
      python) part python 1200 "the Python package's wheel and its tests" run_python ;;
      serve) part serve 1500 "other programs' clients, and load with faults" run_serve ;;
      libtorch) part libtorch 4800 "all tests against PyPI's torch" run_libtorch ;;
      gpu)
        if [ -z "${TORCH_ENVIRONMENT:-}" ]; then
          skip gpu "TORCH_ENVIRONMENT names no Python environment with PyPI's torch and sentence-transformers"
        elif has_gpu; then
          part gpu 0 "building, tests and training on this machine's GPU" run_gpu
        elif [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null 2>&1; then
          skip gpu "there is no GPU, and the dry run in a bare Debian needs root and debootstrap"
        else
          part gpu 4000 "a dry run of what a GPU machine does, in a bare Debian" run_gpu
        fi
        ;;
      fuzz)
        if command -v clang++ >/dev/null 2>&1; then
          part fuzz 1500 "every fuzzer for ${FUZZ_SECONDS:-60} s" run_fuzzers
        else
          skip fuzz "there is no clang++ (apt-get install clang)"
        fi
        ;;
      sanitizers)
        if has_clang; then
          part tsan 900 "ThreadSanitizer over training, what is done with a model, and tests" run_thread_sanitizer
        else
          skip tsan "there is no clang++ with OpenMP (apt-get install clang libomp-dev)"
        fi
        part asan 4000 "AddressSanitizer, UBSan and leaks over the same" run_address_sanitizer
        ;;
      clang)
        if has_clang; then
          part clang 2400 "all tests of a build with clang" run_clang
        else
          skip clang "there is no clang++ with OpenMP (apt-get install clang libomp-dev)"
        fi
        ;;
      arm64) in_debian arm64 9999 "compiled for arm64, tests under emulation" check_arm64 ;;
      suites) on_suites '' 3000 "demo and test on a bare Debian" check_suite ;;
      package) on_suites package- 1500 "the Dockerfile's steps on a bare Debian" check_package ;;
    esac
  done
  printf '\ncheck:%s\n' "$check_summary" >&2
  ! $check_failed
}
