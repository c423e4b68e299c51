#!/bin/sh
# Packs what `./dev check gpu` brings to a GPU machine that reaches no network: pack.sh MODEL ARCHIVE.tar
#
# The archive holds the tracked files of this checkout as they are, the libraries and headers that a
# build needs (tools/fetch/carry.sh; ./dev setup has run here), pairs of texts, and the tokenizer of the
# folder MODEL; weights are made there. It fails above 60 MiB. Its run.sh says how it is used there.
#
# GPU_DATA=FOLDER is a BEIR folder of which 2,000 training pairs are taken (SQuAD's, where the reference
# data lie beside the checkout).
set -eu

limit=$((60 * 1024 * 1024))
pairs=2000

fail() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}
[ $# -eq 2 ] || fail "usage: pack.sh MODEL ARCHIVE.tar"
model=$1
archive=$(realpath -m "$2")
data=${GPU_DATA:-../shared/data/squad-v1.1}
[ -f "$data/qrels/train.tsv" ] || fail "$data is no BEIR folder with a split train: give GPU_DATA=FOLDER"
[ -f "$model/tokenizer.json" ] || fail "$model has no tokenizer.json"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

mkdir -p "$work/tokenizer" "$(dirname "$archive")"
git ls-files -z | tar --null -T - -cf - | xz -2 -T 0 >"$work/sources.tar.xz"
sh tools/fetch/carry.sh "$work/carried.tar.xz" >/dev/null
for file in tokenizer.json tokenizer_config.json special_tokens_map.json vocab.txt; do
  [ ! -f "$model/$file" ] || cp "$model/$file" "$work/tokenizer/"
done
PYTHONPATH=tools/studies python3 -c "
import sys, beir_part
beir_part.take_part(sys.argv[1], sys.argv[2], {'train': $pairs}, $pairs)" "$data" "$work/data"
cp tools/gpu/run.sh "$work/"
tar -C "$work" -cf "$archive.part" run.sh sources.tar.xz carried.tar.xz tokenizer data
mv "$archive.part" "$archive"

bytes=$(stat -c %s "$archive")
for part in sources.tar.xz carried.tar.xz tokenizer data; do
  du -sb "$work/$part" | sed "s|$work/||"
done
printf '%s: %s MiB\n' "$2" $(((bytes + 1048575) / 1048576))
[ "$bytes" -le "$limit" ] || fail "the archive has $bytes bytes, more than the $limit that may be carried"
