// The kernels' source texts, as CMake takes them from *.cu.
#pragma once

namespace tandem::libtorch::kernels {

struct Source {
  const char* name;  // of its file
  const char* text;  // all that the compiler needs
};

extern const Source kAttentionSource;
extern const Source kElementsSource;
extern const Source kRowsSource;

}  // namespace tandem::libtorch::kernels
