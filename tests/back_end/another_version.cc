// A back end of a later version.
#include "back_end/table.h"

extern "C" const tandem::back_end::Table* TandemBackEnd() {
  static constexpr tandem::back_end::Table kTable = {
      .version = tandem::back_end::kBackEndVersion + 1,
      .release = "9.0.0",
      .interface = "",
      .use = nullptr};
  return &kTable;
}
