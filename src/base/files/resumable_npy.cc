#include "base/files/resumable_npy.h"

#include <stdexcept>

namespace tandem {

void ResumableNpy::KeepRows(uint64_t rows) {
  file_.CutTo(rows == 0 ? 0 : OffsetOf(rows, columns_));
  rows_ = rows;
  const std::string header = NpyHeader(0, columns_);
  if (rows == 0) {
    file_.Append(header);
  } else {
    file_.WriteAt(0, header);
  }
}

void ResumableNpy::Append(std::span<const float> values) {
  if (columns_ == 0 || values.size() % columns_ != 0) {
    throw std::logic_error("ResumableNpy::Append takes whole rows");
  }
  file_.Append({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  rows_ += values.size() / columns_;
}

void ResumableNpy::Complete() {
  file_.WriteAt(0, NpyHeader(rows_, columns_));
  file_.Sync();
}

}  // namespace tandem
