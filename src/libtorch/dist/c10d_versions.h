// libtorch's collectives (c10d), and what differs between its versions (1.13 to 2.15).
#pragma once

#include <c10/util/intrusive_ptr.h>
#include <torch/version.h>

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>
#include <vector>

namespace tandem::libtorch {

// A pointer to a running collective operation: c10d::Work, which libtorch 1.13 has inside of
// c10d::ProcessGroup too.
using WorkPointer = decltype(std::declval<c10d::ProcessGroupGloo&>().barrier());

// The type by which Gloo's and NCCL's operations are called.
#if TORCH_VERSION_MAJOR >= 2
using Backend = c10d::Backend;
#else
using Backend = c10d::ProcessGroup;
#endif

using StorePointer = c10::intrusive_ptr<c10d::Store>;

// A store of newer versions is served by libuv unless told otherwise, and Debian's 2.6 is built
// without it.
template <typename Options>
void ServeWithoutLibuv(Options& options) {
  if constexpr (requires { options.useLibUV; }) options.useLibUV = false;
}

}  // namespace tandem::libtorch
