// Lists of measures (eval/measure.h): what is read is spelled so that it reads back to itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "eval/measure.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace tandem;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  try {
    for (const eval::Measure& measure : eval::ParseMeasures(text)) {
      const std::string name = measure.name();
      if (eval::ParseMeasure(name).name() != name) std::abort();
      if (measure.cut_off == 0) std::abort();
    }
  } catch (const UsageError&) {
  }
  if (eval::MeasureProblem(text).empty() && eval::ParseMeasure(text).info == nullptr) std::abort();
  return 0;
}
