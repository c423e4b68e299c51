// The kernels' source texts, as CMake takes them from *.cu and *.cuh.
#pragma once

namespace tandem::libtorch::kernels {

struct Source {
  const char* name;  // of its file
  const char* text;  // all that the compiler needs
};

extern const Source kAttentionBackwardSource;
extern const Source kAttentionForwardSource;
extern const Source kElementsSource;
extern const Source kRowsSource;

}  // namespace tandem::libtorch::kernels
