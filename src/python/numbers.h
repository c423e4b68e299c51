// Numbers of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace tandem::python {

// Takes the error that Python has set for a value that is no number of double precision, and throws
// it: what the value's own __float__ has raised as it is, else a TypeError, and a NumericError for
// whole numbers that are too large. `place` says where the value stands.
[[noreturn]] void ThrowNoNumber(nanobind::handle value, const std::string& place);

// A number. `place` returns where it stands; it is only asked for errors.
template <typename Place>
double NumberOf(nanobind::handle value, const Place& place) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) ThrowNoNumber(value, place());
  return number;
}

}  // namespace tandem::python
