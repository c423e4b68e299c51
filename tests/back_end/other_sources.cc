// A back end of this version of Tandem, whose headers were others.
#include "back_end/table.h"

extern "C" const tandem::back_end::Table* TandemBackEnd() {
  static constexpr tandem::back_end::Table kTable = {
      .version = tandem::back_end::kBackEndVersion,
      .release = TANDEM_VERSION,
      .interface = "00000000000000000000000000000000",
      .use = nullptr};
  return &kTable;
}
