// A rendezvous lets the processes of a launch find each other: a store that rank 0's process keeps.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <string>

#include "base/process/launch.h"
#include "dist/peers.h"
#include "libtorch/dist/c10d_versions.h"

namespace tandem::libtorch {

// The first line of what libtorch says; its messages carry stack traces.
std::string FirstLine(const std::exception& error);

// The store of a launch, which rank 0 makes and the others connect to. Throws UsageError where rank
// 0's port is taken, PeerLost where rank 0 is not reached within `timeout`.
StorePointer RendezvousStore(const Launch& launch, std::chrono::milliseconds timeout);

// Waits until every process of the launch has come. Throws UsageError where two have one rank, and
// PeerLost, naming them, where some have not come within `timeout`: on all that have come.
void Meet(const Launch& launch, c10d::Store& store, std::chrono::milliseconds timeout);

// A connection of its own to that store, for Peers.
std::unique_ptr<dist::PeerStore> StoreForPeers(const Launch& launch,
                                               std::chrono::milliseconds timeout);

}  // namespace tandem::libtorch
