// Where tests find what is not in the repository: reference data, a model folder and a tokenizer.
//
// A test that needs one begins with
//
//   const auto shared = SharedDir();
//   if (!shared) GTEST_SKIP() << kNoSharedDir;
//
// Where TANDEM_REQUIRE_DATA=1 is set, as in CI, a missing folder throws instead: the test fails.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

namespace tandem {

inline constexpr const char* kNoSharedDir =
    "no reference data: set TANDEM_SHARED_DIR to the folder that holds data/ and vectors/";
inline constexpr const char* kNoModelDir =
    "no model: set TANDEM_MODEL_DIR to an all-MiniLM-L6-v2 folder";

inline std::optional<std::filesystem::path> TestFolder(const char* variable,
                                                       const char* default_folder,
                                                       const char* complaint) {
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  const std::filesystem::path folder = value != nullptr && *value != '\0' ? value : default_folder;
  if (std::filesystem::is_directory(folder)) return folder;
  const char* require = std::getenv("TANDEM_REQUIRE_DATA");  // NOLINT(concurrency-mt-unsafe)
  if (require != nullptr && std::string(require) == "1") {
    throw std::runtime_error(std::string(complaint) + " (" + folder.native() + " is no folder)");
  }
  return std::nullopt;
}

// Reference data: TANDEM_SHARED_DIR, else ../shared beside the source tree.
inline std::optional<std::filesystem::path> SharedDir() {
  return TestFolder("TANDEM_SHARED_DIR", TANDEM_SOURCE_DIR "/../shared", kNoSharedDir);
}

// The all-MiniLM-L6-v2 folder: TANDEM_MODEL_DIR, else what `./dev` fetched.
inline std::optional<std::filesystem::path> ModelDir() {
  return TestFolder("TANDEM_MODEL_DIR", TANDEM_SOURCE_DIR "/.cache/models/all-MiniLM-L6-v2",
                    kNoModelDir);
}

inline constexpr const char* kNoLlamaTokenizerDir =
    "no tokenizer: set TANDEM_LLAMA_TOKENIZER to a folder with Llama 3.2's tokenizer.json";

// A folder with Llama 3.2's tokenizer.json: TANDEM_LLAMA_TOKENIZER, else what `./dev test` fetched.
inline std::optional<std::filesystem::path> LlamaTokenizerDir() {
  return TestFolder("TANDEM_LLAMA_TOKENIZER", TANDEM_SOURCE_DIR "/.cache/tokenizers/llama-3.2",
                    kNoLlamaTokenizerDir);
}

}  // namespace tandem
