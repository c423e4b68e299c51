#!/bin/sh
# The demo, "find the package for a job": demo.sh TANDEM MODEL_FOLDER tiny|default|full
#
# Measures MODEL_FOLDER on the machine's own package index, trains it once with each of two
# objectives, measures again, asks all three models the same questions, and ends with one table, what
# the differences are worth, a score to cut results at, and a report as an HTML page.
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

. tools/dev/stages.sh
stages=$((stage_number + 9))

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

# rank NAME: leaves the ranking of the test queries, from the embeddings that `measure` kept.
rank() {
  "$tandem" search --quiet --model "$(model_of "$1")" --dataset "$data" --split test --top-k 1000 \
    $lengths --embeddings "$folder/embeddings-$1" --output "$folder/$1.trec"
}

# A score at which users can cut results. A package's siblings count as right here.
threshold() {
  "$tandem" evaluate --quiet --model "$(model_of "$1")" --dataset "$data" --split test $lengths \
    --embeddings "$folder/embeddings-$1" --measures auc --relevance-level 1 \
    --thresholds precision=0.9 --format json >"$folder/$1.threshold.json" ||
    [ $? = 6 ]  # the target cannot be met, which the file says
  python3 tools/demo/demo_threshold.py "$1" "$folder/$1.threshold.json"
}

stage 10 "data: find the package for a job ($size)"
python3 tools/demo/package_dataset.py --index demo/index --output "$data" --size "$size"
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
stage "$(seconds_of 20)" "what the differences are worth, and a score to cut results at"
for name in base $objectives; do
  rank "$name"
done
set -- "$folder/base.trec"
for objective in $objectives; do
  set -- "$@" "$folder/$objective.trec"
done
"$tandem" compare "$@" --dataset "$data" --split test --relevance-level 2 --measures ndcg@10,mrr@10 \
  --queries 1
echo
threshold mann_whitney
stage "$(seconds_of 190)" "report"
set --
for objective in $objectives; do
  set -- "$@" "$folder/$objective"
done
TANDEM_CACHE=$PWD/$folder/cache "$tandem" report "$@" --base "$model" --dataset "$data" --split test --relevance-level 2 \
  --output "$folder/report" >"$folder/report.path"
printf '\nTest queries: what a package does in one line; documents: %s package descriptions.\n\n' \
  "$(wc -l <"$data/corpus.jsonl")"
table
cat <<EOF

The report, with curves, calibration and the queries that fail (open it in a browser):
  $(cat "$folder/report.path")

What to try next:
  $tandem search --model $folder/mann_whitney/model --dataset $data --query "your question"
  $tandem train recipes/demo-mann_whitney.toml --output runs/mine --set train.epochs=3 \\
    --set model.base=$model --set data.train=$data
  DEMO=full ./dev demo          all packages: about ten times the data, and the time
  $tandem explain mann_whitney  what the objective computes, and its parameters
EOF
printf '\n== done (%s s since the start) ==\n' $(($(date +%s) - stages_started)) >&2
