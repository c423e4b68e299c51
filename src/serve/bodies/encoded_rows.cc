#include "serve/bodies/encoded_rows.h"

#include <cmath>

#include "serve/bodies/json_writer.h"

namespace tandem::serve {

double Length(std::span<const float> row) {
  double sum = 0;
  for (const float value : row) sum += double{value} * value;
  return std::sqrt(sum);
}

void AppendCounts(std::string* out, const EncodedRows& encoded) {
  *out += ",\"tokens\":";
  AppendJsonInteger(out, encoded.tokens);
  *out += ",\"truncated_texts\":";
  AppendJsonInteger(out, encoded.truncated);
}

}  // namespace tandem::serve
