// Texts of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::python {

// The bytes of a str in UTF-8, as long as the object lives; null where it is none or has half of a
// surrogate pair.
const char* Utf8OrNull(nanobind::handle text, std::size_t* size);
// Raises TypeError for what is no str, and throws UsageError for half of a surrogate pair, which
// UTF-8 cannot say. `place` says where it stands: "texts[3]".
[[noreturn]] void ThrowNoText(nanobind::handle text, const std::string& place);

// The bytes of a str in UTF-8, as long as the object lives. `place` returns where it stands; it is
// only asked for errors, which ThrowNoText throws.
template <typename Place>
std::string_view Utf8Of(nanobind::handle text, const Place& place) {
  std::size_t size = 0;
  const char* const bytes = Utf8OrNull(text, &size);
  if (bytes == nullptr) ThrowNoText(text, place());
  return {bytes, size};
}

// Copies of all texts of a list, so that they can be used without the GIL; `first` is the number of
// its first text, for errors.
std::vector<std::string> TextsOf(const nanobind::list& texts, size_t first);

}  // namespace tandem::python
