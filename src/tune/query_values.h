// The values of a model for each query, as a file: JSON lines {"query": ID, "value": NUMBER}.
#pragma once

#include <filesystem>
#include <vector>

#include "train/validation/measured_value.h"

namespace tandem::tune {

using QueryValues = std::vector<train::QueryValue>;

// Writes the file atomically, and its folder where it is missing.
void WriteQueryValues(const std::filesystem::path& file, const QueryValues& values);
// Throws DataError for a file that is missing or was changed.
QueryValues ReadQueryValues(const std::filesystem::path& file);

double MeanOf(const QueryValues& values);

}  // namespace tandem::tune
