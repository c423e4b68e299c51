#!/bin/sh
# The demo, "find the package for a job": demo.sh TANDEM MODEL_FOLDER tiny|default|full
#
# Measures MODEL_FOLDER on the machine's own package index, trains it once with each of two
# objectives, measures again, prints one table, and asks all three models the same questions.
# Everything lies under demo/SIZE; a second run trains again and prints the same numbers.
set -eu

tandem=$1
model=$2
size=$3
folder=demo/$size
data=$folder/data
objectives="infonce mann_whitney"
measures=ndcg@10,mrr@10,recall@10,auc
lengths="--max-query-tokens 128 --max-document-tokens 128"  # as in the recipes

. tools/stages.sh
stages=$((stage_number + 7))

# seconds_of SECONDS_AT_DEFAULT: the time of a stage on one core, by the size of the demo.
seconds_of() {
  case $size in
    tiny) echo 10 ;;
    full) echo $(($1 * 11)) ;;
    *) echo "$1" ;;
  esac
}

model_of() {
  case $1 in
    base) echo "$model" ;;
    *) echo "$folder/$1/model" ;;
  esac
}

# measure NAME: leaves $folder/NAME.tsv, and the documents' embeddings for `ask`. The package itself
# has grade 2, its siblings 1: nDCG uses both, the other measures ask for the package itself.
measure() {
  rm -rf "$folder/embeddings-$1"
  "$tandem" evaluate --model "$(model_of "$1")" --dataset "$data" --split test $lengths \
    --embeddings "$folder/embeddings-$1" --measures "$measures" --relevance-level 2 --format tsv >"$folder/$1.tsv"
}

# train OBJECTIVE: leaves the run in $folder/OBJECTIVE and its seconds in $folder/OBJECTIVE.seconds.
train() {
  rm -rf "${folder:?}/$1"
  before=$(date +%s)
  "$tandem" train "recipes/demo-$1.toml" --output "$folder/$1" --set "model.base=$model" \
    --set "data.train=$data"
  echo $(($(date +%s) - before)) >"$folder/$1.seconds"
}

table() {
  printf '%-14s %8s %8s %10s %8s %16s\n' model nDCG@10 MRR@10 Recall@10 AUC 'training seconds'
  for name in base $objectives; do
    seconds=-
    [ "$name" = base ] || seconds=$(cat "$folder/$name.seconds")
    awk -F '\t' -v name="$name" -v seconds="$seconds" '
      $2 == "all" { value[$1] = $3 }
      END {
        printf "%-14s %8.4f %8.4f %10.4f %8.4f %16s\n", name, value["ndcg@10"], value["mrr@10"],
               value["recall@10"], value["auc"], seconds
      }' "$folder/$name.tsv"
  done
}

ask() {
  printf '\n%s:\n' "$1"
  "$tandem" search --quiet --model "$(model_of "$1")" --dataset "$data" --top-k 3 $lengths \
    --embeddings "$folder/embeddings-$1" \
    --query "convert a video to another format" \
    --query "find out which program fills my disk" \
    --query "read scientific papers and manage their references"
}

stage 10 "data: find the package for a job ($size)"
python3 tools/package_dataset.py --index demo/index --output "$data" --size "$size"
stage "$(seconds_of 54)" "measure the base model"
measure base
for objective in $objectives; do
  stage "$(seconds_of 66)" "train with $objective"
  train "$objective"
  stage "$(seconds_of 54)" "measure after $objective"
  measure "$objective"
done

stage 4 "ask each model the same questions"
for name in base $objectives; do
  ask "$name"
done
printf '\nTest queries: what a package does in one line; documents: %s package descriptions.\n\n' \
  "$(wc -l <"$data/corpus.jsonl")"
table
cat <<EOF

What to try next:
  $tandem search --model $folder/mann_whitney/model --dataset $data --query "your question"
  $tandem train recipes/demo-mann_whitney.toml --output runs/mine --set train.epochs=3 \\
    --set model.base=$model --set data.train=$data
  DEMO=full ./dev demo          all packages: about ten times the data, and the time
  $tandem explain mann_whitney  what the objective computes, and its parameters
EOF
printf '\n== done (%s s since the start) ==\n' $(($(date +%s) - stages_started)) >&2
