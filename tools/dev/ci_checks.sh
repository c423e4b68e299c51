# Read by ./dev: what CI runs besides the tests.

# The tests of what reads files and requests that others have made.
tests_of_input="base_test config_test data_test documents_test embeddings_test import_test read_ahead_test
  index_approximate_test index_folder_test serve_test text_golden_test text_test weights_test"

# What CI runs besides the tests: ThreadSanitizer over what works on several threads without
# libtorch, AddressSanitizer over what reads others' files and requests, a small demo, the smallest
# study. AddressSanitizer over the rest, kernels included, is part of `./dev check`.
run_ci_checks() {
  stage "$(build_time tsan 220)" "ThreadSanitizer: build the tests of threads"
  build_targets tsan tests_of_threads -DTANDEM_WARNINGS_AS_ERRORS=ON
  stage 120 "ThreadSanitizer: run them"
  run_tests tsan -L threads
  stage "$(build_time asan 600)" "AddressSanitizer: build the tests of what reads input"
  build_targets asan "$tests_of_input" -DTANDEM_WARNINGS_AS_ERRORS=ON
  stage 320 "AddressSanitizer: run them"
  run_tests asan -R "^($(echo $tests_of_input | tr ' ' '|'))_[0-9]+$"  # what was built
  stage 1 "links of the documentation"
  python3 tools/checks/check_links.py
  stage 60 "demo, tiny"
  STAGES_BEFORE=0 sh tools/demo/demo.sh build/release/tandem "$model" tiny
  stage 20 "data at scale, small"
  python3 tools/checks/scale.py --program build/release/tandem --model "$model" --work build/scale \
    --documents 5000 --queries 500 demo/tiny/data
  stage 40 "a study, quick"
  if [ -d ../shared/data ]; then
    python3 tools/studies/run_study.py --program build/release/tandem --model "$model" \
      --work build/studies --force --budget quick samtone-duplicates >build/study.md
  else
    say "left out: there is no ../shared/data"
  fi
}
