// A back end of another version of Tandem, which shows itself in the same table.
#include "back_end/table.h"

extern "C" const tandem::back_end::Table* TandemBackEnd() {
  static constexpr tandem::back_end::Table kTable = {.version = tandem::back_end::kBackEndVersion,
                                                     .release = "0.0.9",
                                                     .interface = "",
                                                     .use = nullptr};
  return &kTable;
}
