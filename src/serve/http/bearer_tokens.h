// Bearer tokens: who may ask.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::serve {

// One token a line; empty lines and those that begin with # are passed over. Throws DataError for a
// file that cannot be read and UsageError for one without a token, and for a token that no header
// could carry or that is shorter than 16 characters. Warns where other users may read the file.
std::vector<std::string> ReadTokens(const std::filesystem::path& file);

// Says whether both are equal. How long it takes does not depend on where they differ.
bool EqualInConstantTime(std::string_view given, std::string_view token);

// The number of the token in "Bearer TOKEN"; none where it is not among them. All are compared.
std::optional<size_t> FindToken(std::string_view authorization,
                                std::span<const std::string> tokens);

}  // namespace tandem::serve
