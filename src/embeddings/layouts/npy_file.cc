#include "embeddings/layouts/npy_file.h"

#include <string>

namespace tandem::embeddings {

void NpyFile::KeepRows(uint64_t rows) {
  const RowPlace& place = block_file_.place;
  file_.CutTo(rows == 0 ? 0 : place.OffsetOf(rows));
  file_.WriteAt(0, NpyHeader(0, place.columns));
  rows_ = rows;
}

uint64_t NpyFile::Write(std::span<const float> values) {
  const uint64_t hash = block_file_.Write(rows_, values);
  rows_ += values.size() / block_file_.place.columns;
  return hash;
}

void NpyFile::Complete() {
  file_.WriteAt(0, NpyHeader(rows_, block_file_.place.columns));
  file_.Sync();
}

}  // namespace tandem::embeddings
