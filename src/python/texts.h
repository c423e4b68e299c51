// Texts of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

namespace tandem::python {

// The bytes of a str in UTF-8, as long as the object lives. `place` says where it stands:
// "texts[3]". Raises TypeError for another type, and throws UsageError for half of a surrogate
// pair, which UTF-8 cannot say.
std::string_view Utf8Of(nanobind::handle text, const std::string& place);

// Copies of all texts of a list, so that they can be used without the GIL; `first` is the number of
// its first text, for errors.
std::vector<std::string> TextsOf(const nanobind::list& texts, size_t first);

}  // namespace tandem::python
