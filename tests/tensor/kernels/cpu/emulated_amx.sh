#!/bin/sh
# emulated_amx.sh LIBRARY PROGRAM [ARGUMENTS]: runs the program as on a processor with AMX, with the
# preloaded LIBRARY made from emulated_amx.cc. Ends with 77 where the processor has AMX itself or
# lacks AVX512-BF16, or is no x86-64. With EMULATED_AMX_MUST_MULTIPLY=bytes, which is for products of
# bytes alone, it needs AVX2 only, and no VNNI.
set -eu
library=$1
program=$2
shift 2
flags=$(grep -m1 '^flags' /proc/cpuinfo || true)
case "${EMULATED_AMX_MUST_MULTIPLY:-} $flags " in
  bytes*" amx_int8 "* | bytes*vnni*) echo "this processor has such instructions itself" && exit 77 ;;
  bytes*" avx2 "*) ;;
  *" amx_bf16 "*) echo "this processor has AMX itself" && exit 77 ;;
  *" avx512_bf16 "*) ;;
  *) echo "AMX is emulated only on processors with AVX512-BF16" && exit 77 ;;
esac
sites=$(mktemp)
trap 'rm -f "$sites" "$sites.text"' EXIT
# sites_in NAME FILE: the instructions that ask what the processor is.
sites_in() {
  objdump -d --no-show-raw-insn "$2" >"$sites.text"
  sed -nE "s|^ *([0-9a-f]+):[[:space:]]*(cpuid\|xgetbv)[[:space:]]*\$|$1 \1 \2|p" "$sites.text"
}
sites_in program "$program" >"$sites"
onednn=$(ldd "$program" | sed -n 's/.*libdnnl[^ ]* => \([^ ]*\).*/\1/p')
[ -z "$onednn" ] || sites_in "$onednn" "$onednn" >>"$sites"
# oneDNN 3 multiplies with tiles only where the processor has AVX512-FP16 too, which is not emulated.
case "${EMULATED_AMX_MUST_MULTIPLY:-} $onednn $flags" in
  bytes* | *libdnnl.so.2* | *" avx512_fp16 "*) ;;
  *)
    echo "oneDNN has no AMX without AVX512-FP16 here: only this program's own products are tested"
    [ -z "${EMULATED_AMX_MUST_MULTIPLY:-}" ] || export EMULATED_AMX_MUST_MULTIPLY=own
    ;;
esac
# UCX, which Debian 13's libtorch loads, handles the signal of illegal instructions too.
export UCX_ERROR_SIGNALS=
# A sanitizer wants to be the first library.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
EMULATED_AMX_SITES=$sites LD_PRELOAD=$library "$program" "$@"
