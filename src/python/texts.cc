#include "python/texts.h"

#include <fmt/format.h>

#include "base/error.h"

namespace tandem::python {

namespace nb = nanobind;

std::string_view Utf8Of(nb::handle text, const std::string& place) {
  if (!PyUnicode_Check(text.ptr())) {
    const nb::str type = nb::type_name(text.type());
    throw nb::type_error(
        fmt::format("{} is of the type {}; expected str", place, type.c_str()).c_str());
  }
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes != nullptr) return {bytes, static_cast<size_t>(size)};
  if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) throw nb::python_error();
  PyErr_Clear();
  throw UsageError(
      fmt::format("{} has half of a surrogate pair, which is no character; decode its bytes with "
                  "errors=\"replace\"",
                  place));
}

std::vector<std::string> TextsOf(const nb::list& texts, size_t first) {
  std::vector<std::string> copies;
  copies.reserve(nb::len(texts));
  for (const nb::handle text : texts) {
    copies.emplace_back(Utf8Of(text, fmt::format("texts[{}]", first + copies.size())));
  }
  return copies;
}

}  // namespace tandem::python
