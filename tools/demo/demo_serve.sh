#!/bin/sh
# The demo's search: demo_serve.sh TANDEM MODEL_FOLDER tiny|default|full
#
# Puts the model that the demo trains with mann_whitney, and its packages, behind a page. What is there from
# an earlier run is used again: the model of ./dev demo, the index under demo/SIZE/serve. PORT (8080)
# is the server's port; Ctrl-C stops it.
set -eu

tandem=$1
model=$2
size=$3
port=${PORT:-8080}
folder=demo/$size
data=$folder/data
trained=$folder/mann_whitney/model
served=$folder/serve

. tools/dev/stages.sh
stages=$((stage_number + 5))

# seconds_of SECONDS_AT_DEFAULT: the time of a stage on one core, by the size of the demo.
seconds_of() {
  case $size in
    tiny) echo 10 ;;
    full) echo $(($1 * 11)) ;;
    *) echo "$1" ;;
  esac
}

stage 10 "data: packages and what they do ($size)"
# Data of an earlier version of the demo have no sections to filter by.
if ! grep -q '"metadata"' "$data/corpus.jsonl" 2>/dev/null; then
  python3 tools/demo/package_dataset.py --index demo/index --output "$data" --size "$size"
fi

if [ -f "$trained/config.json" ]; then
  stage 0 "model: $trained is there"
else
  stage "$(seconds_of 66)" "train with mann_whitney"
  "$tandem" train recipes/demo-mann_whitney.toml --output "$folder/mann_whitney" --set "model.base=$model" \
    --set "data.train=$data"
fi

# A copy, so that the demo's model stays as its training left it.
if [ ! -f "$served/model/config.json" ] || [ "$trained/tandem.json" -nt "$served/model/tandem.json" ]; then
  stage "$(seconds_of 54)" "probabilities: fit them to the dev queries, whose packages' siblings count as right"
  rm -rf "$served"
  mkdir -p "$served"
  cp -r "$trained" "$served/model.partial"
  "$tandem" calibrate "$served/model.partial" --dataset "$data" --split dev --relevance-level 1
  mv "$served/model.partial" "$served/model"
else
  stage 0 "probabilities: fitted before"
fi

if [ ! -d "$served/index" ]; then
  stage "$(seconds_of 54)" "index"
  "$tandem" index build "$served/model" "$data/corpus.jsonl" --output "$served/index" --field section \
    --field installed_kib:number
else
  stage 0 "index: built before"
fi

stage 0 "serve; Ctrl-C stops it"
cat <<END

Open in a browser:

  http://127.0.0.1:$port/

or ask from another terminal:

  curl http://127.0.0.1:$port/search --json '{"query": "convert a video", "k": 3, "min_probability": 0.5}'

END
exec "$tandem" serve "$served/index" --name packages --port "$port"
