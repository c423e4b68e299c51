#include "python/texts.h"

#include <fmt/format.h>

#include "base/error.h"

namespace tandem::python {

namespace nb = nanobind;

const char* Utf8OrNull(nb::handle text, size_t* size) {
  if (!PyUnicode_Check(text.ptr())) return nullptr;
  Py_ssize_t bytes = 0;
  const char* const found = PyUnicode_AsUTF8AndSize(text.ptr(), &bytes);
  *size = static_cast<size_t>(bytes);
  if (found != nullptr) return found;
  if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) throw nb::python_error();
  PyErr_Clear();
  return nullptr;
}

void ThrowNoText(nb::handle text, const std::string& place) {
  if (!PyUnicode_Check(text.ptr())) {
    const nb::str type = nb::type_name(text.type());
    throw nb::type_error(
        fmt::format("{} is of the type {}; expected str", place, type.c_str()).c_str());
  }
  throw UsageError(
      fmt::format("{} has half of a surrogate pair, which is no character; decode its bytes with "
                  "errors=\"replace\"",
                  place));
}

std::vector<std::string> TextsOf(const nb::list& texts, size_t first) {
  std::vector<std::string> copies;
  copies.reserve(nb::len(texts));
  for (const nb::handle text : texts) {
    copies.emplace_back(
        Utf8Of(text, [&] { return fmt::format("texts[{}]", first + copies.size()); }));
  }
  return copies;
}

}  // namespace tandem::python
