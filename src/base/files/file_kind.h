// Names the kind of a file that its reader did not expect, by its first bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tandem {

// This many bytes from the start of a file tell all kinds apart.
inline constexpr size_t kFileKindBytes = 1024;

// Says why a file cannot be text in UTF-8, judged by its first bytes: "is a Git LFS pointer, not
// the file itself: fetch it with `git lfs pull`". It is empty where they may be such text. `path`
// only serves the commands that the sentence names.
std::string NoTextProblem(std::string_view first_bytes, std::string_view path);

// Says whether they are the length of a safetensors header and its first character.
bool IsSafetensors(std::string_view first_bytes);

// Refuses pages and markup too, which are texts but neither JSON, columns nor weights.
std::string NoDataProblem(std::string_view first_bytes, std::string_view path);

}  // namespace tandem
