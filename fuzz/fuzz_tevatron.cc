// Tevatron's training lines (data/formats/tevatron.h) and what training makes of them.
#include "data/formats/tevatron.h"
#include "training_lines.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  tandem::data::FuzzTrainingLines(bytes, size, [](tandem::data::LineReader& reader) {
    return tandem::data::ReadTevatron(reader);
  });
  return 0;
}
