#include "embeddings/mapped_rows.h"

#include <stdexcept>
#include <utility>

namespace tandem::embeddings {

MappedRows MapRows(MappedFile file, const RowPlace& place, size_t rows) {
  const std::string_view bytes = file.bytes();
  if (place.start % alignof(float) != 0 || place.OffsetOf(rows) > bytes.size()) {
    throw std::logic_error("rows of embeddings are not in their file");
  }
  const std::span<const float> values(reinterpret_cast<const float*>(bytes.data() + place.start),
                                      rows * place.columns);
  return {.rows = rows, .columns = place.columns, .file = std::move(file), .values = values};
}

}  // namespace tandem::embeddings
