// sentence-transformers columns (data/formats/sentence_transformers.h) and what training makes of
// them.
#include "data/formats/sentence_transformers.h"
#include "training_lines.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  tandem::data::FuzzTrainingLines(bytes, size, [](tandem::data::LineReader& reader) {
    return tandem::data::ReadColumns(reader);
  });
  return 0;
}
