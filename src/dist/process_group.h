// The processes of a job that work together, and what they exchange.
//
// What several processes exchange goes through the back end (libtorch/dist), which is loaded for
// them: Gloo between hosts' memories, NCCL between GPUs. Every process calls the same functions in
// the same order. A group of one exchanges nothing: every function returns at once what it was
// given.
//
// A process that is gone or does not answer ends the wait of all others within the timeout of the
// group with PeerLost, which names it. No function can be called after that; the group's threads
// may still wait for the lost process, so a program ends then without taking the group apart
// (ExitCode::kPeerLost).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/process/launch.h"
#include "tensor/core/tensor.h"

namespace tandem::dist {

struct GroupOptions {
  // Says how long the others may take to come, to answer, or to be as far as this process.
  std::chrono::milliseconds timeout{300'000};
};

// A reduction that is under way; the tensor must not be touched until Wait has returned.
class Pending {
 public:
  virtual ~Pending() = default;
  virtual void Wait() = 0;
};

// What a process throws whose own part did not fail, but that of another process of its group.
class OtherFailed : public Error {
 public:
  using Error::Error;
};

class ProcessGroup {
 public:
  // A group of this process alone.
  static std::unique_ptr<ProcessGroup> Alone();
  // Meets the other processes of the launch; Alone for a launch of one. Rank 0 listens on the
  // launch's port. Throws UsageError where that port is taken, a rank is there twice, or several
  // processes are asked for and the back end cannot be loaded; PeerLost where a process does not
  // come within the timeout, naming its rank.
  static std::unique_ptr<ProcessGroup> Join(const Launch& launch, const GroupOptions& options = {});
  virtual ~ProcessGroup() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  bool alone() const { return ranks() == 1; }
  bool leads() const { return rank() == 0; }

  // Says whether the functions below take tensors that are there. Gloo takes the host's.
  virtual bool Takes(tensor::Device device) const { return device.is_cpu(); }

  // The tensors of all processes, [ranks, ...]; all must have one shape, of at most three
  // dimensions, and one type.
  virtual tensor::Tensor AllGather(const tensor::Tensor& tensor) = 0;
  // tensor [ranks, ...]: row r goes to rank r. Row r of the result came from rank r.
  tensor::Tensor AllToAll(const tensor::Tensor& tensor);
  // Starts AllToAll; `to` has the shape of `from`. Both must stay as they are meanwhile.
  virtual std::unique_ptr<Pending> StartAllToAll(const tensor::Tensor& from,
                                                 const tensor::Tensor& to) = 0;
  // Adds up the tensors of all processes in place, in an order that is the same in every run. They
  // are of a type of 32 bits or more.
  virtual std::unique_ptr<Pending> AddUp(tensor::Tensor tensor) = 0;
  // Rank 0's tensor, in place.
  virtual void Broadcast(tensor::Tensor tensor) = 0;

  // The bytes of every process, in the order of ranks.
  std::vector<std::string> AllGatherBytes(std::string_view bytes);
  // Rank 0's bytes.
  std::string BroadcastBytes(std::string_view bytes);
  // The largest of the numbers of all processes.
  int64_t Largest(int64_t number);

  // Calls `body` on every process. Where it throws on one, all processes throw: those where it did
  // not fail OtherFailed, with the same exit code, which names the rank. So nobody waits for a
  // process that has ended. `body` must not use the group, unless either all processes fail after
  // that use or those that fail do so before it.
  void Agree(const std::function<void()>& body);
  // Says that every process throws now, by the same facts: as if Agree had thrown.
  void FailTogether() { agreed_to_end_ = true; }
  // Says whether Agree has thrown: all processes end, and need not be told.
  bool agreed_to_end() const { return agreed_to_end_; }
  // For a process that has caught an error: whether all have failed together, and every one of them
  // is ready to go on. Where one is not, all have to end. Not for a group of which processes may
  // have ended, or wait for others: where the error was not agreed on, nobody is asked.
  bool RecoverTogether(bool ready);

  // Throws what a wait for another process would throw, where one is lost or has ended with an
  // error; never waits. It serves long work between exchanges, which nobody would need any more.
  virtual void CheckPeers() = 0;
  // Tells the others that this process ends with an error, as far as they can still be told. It
  // must be called before the program ends with it.
  virtual void Report(int exit_code, std::string_view message) = 0;
  // Waits for all others and takes the group apart. A destructor that runs without it lets the
  // others believe that this process was lost.
  virtual void Leave() = 0;

 private:
  bool agreed_to_end_ = false;
};

// Joins the processes of a launch of more than one (ProcessGroup::Join).
using GroupMaker =
    std::function<std::unique_ptr<ProcessGroup>(const Launch& launch, const GroupOptions& options)>;

// Sets what Join makes groups of several processes with, once for all threads. The back end calls
// it.
void SetGroupMaker(GroupMaker maker);

// Says whether several processes share the work: there is a group, and it has more than one.
inline bool IsShared(const ProcessGroup* group) { return group != nullptr && !group->alone(); }

// Says whether this process is the one that works where one is enough: rank 0, or without a group.
inline bool Leads(const ProcessGroup* group) { return group == nullptr || group->leads(); }

// This process's even share of `count` things: [begin, end) of those of all ranks, in their order.
struct Share {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};
Share ShareOf(int64_t count, int rank, int ranks);

}  // namespace tandem::dist
