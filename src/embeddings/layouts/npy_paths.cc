#include "embeddings/layouts/npy_paths.h"

#include <system_error>

namespace tandem::embeddings {

namespace fs = std::filesystem;

NpyPaths NpyPathsOf(const std::string& output) {
  const fs::path path = output;
  std::error_code ignored;
  if (path.extension() == ".npy" && !fs::is_directory(path, ignored)) {
    return {.embeddings = path,
            .ids = fs::path(path).replace_extension(".ids.txt"),
            .journal = path.native() + ".journal"};
  }
  return {.embeddings = path / "embeddings.npy",
          .ids = path / "ids.txt",
          .journal = path / "embeddings.npy.journal",
          .in_folder = true};
}

}  // namespace tandem::embeddings
