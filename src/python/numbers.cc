#include "python/numbers.h"

#include <fmt/format.h>

#include "base/error.h"

namespace tandem::python {

namespace nb = nanobind;

void ThrowNoNumber(nb::handle value, const std::string& place) {
  nb::python_error raised;
  if (PyLong_Check(value.ptr()) && raised.matches(PyExc_OverflowError)) {
    throw NumericError(place + " is larger than numbers of double precision are");
  }
  if (nb::hasattr(value, "__float__") || nb::hasattr(value, "__index__")) throw raised;
  throw nb::type_error(fmt::format("{} is of the type {}; expected a number", place,
                                   nb::str(nb::type_name(value.type())).c_str())
                           .c_str());
}

}  // namespace tandem::python
