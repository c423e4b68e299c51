#!/bin/sh
# cross_arm64.sh PACKAGES: run as root at the root of the sources in a bare Debian of x86-64
# (bare_debian.sh), compiles for arm64 and runs tests under qemu-user. PACKAGES are those that Tandem
# is built from, as ./dev lists them. Tests find their model, tokenizer and reference data as
# elsewhere, by TANDEM_MODEL_DIR, TANDEM_LLAMA_TOKENIZER and ../shared.
set -eu

# Tools are this machine's; libraries are arm64's alone, as not all packages let both be installed.
packages="ccache g++-aarch64-linux-gnu qemu-user"
for package in $1; do
  case $package in
    g++ | python3*) ;;
    lib* | *-dev) packages="$packages $package:arm64" ;;
    *) packages="$packages $package" ;;
  esac
done
dpkg --add-architecture arm64
apt-get -q update >/dev/null
DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends -o Dpkg::Use-Pty=0 install \
  $packages >/dev/null

# All tests of these rooms but one, and those of an index's kernels: what text reads as bytes with a
# sign or without, what has kernels, and what is computed with them. train_command_test starts the
# program, which here only the kernel's support for foreign programs (binfmt_misc) could do; it is one
# for the whole machine, and no test's to set up.
rooms="base text tensor model search train"
targets="base_test text_test text_golden_test isa_test tensor_core_test tensor_core_products_test
  tensor_core_device_test tensor_test device_test model_test encoder_test load_memory_test mining_test
  search_test cross_encoder_test train_test exact_index_test"
not_run='^train_command_test_NOT_BUILT$'
# QEMU computes floating-point operations in software. What takes a processor seconds, ten thousand
# tokens, a thousand texts in a whole model or every way of pooling in one, takes it hours.
slow="*OverTenThousandTokens*:EmbeddingParity.EqualsSentenceTransformersOnAThousandTexts"
export GTEST_FILTER="-$slow:PoolingParity.EqualsSentenceTransformersInEveryMode"

cmake --preset arm64 -Wno-dev -DTANDEM_WARNINGS_AS_ERRORS=ON -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
  >/dev/null
cmake --build --preset arm64 --parallel "$(nproc)" --target tandem_cli $targets
qemu-aarch64 build/arm64/tandem version
qemu-aarch64 build/arm64/tandem version | grep -q '^kernels: neon; '
for room in $rooms; do
  ctest --test-dir "build/arm64/tests/$room" --output-on-failure --no-tests=error \
    --parallel "$(nproc)" --exclude-regex "$not_run"
done
ctest --test-dir build/arm64/tests/index --output-on-failure --no-tests=error \
  --tests-regex '^exact_index_test'
# With pages of 64 KiB, which Linux may have there.
qemu-aarch64 -p 65536 build/arm64/tests/tensor/tensor_test --gtest_filter='PageArena.*:UseTensorArena.*'
