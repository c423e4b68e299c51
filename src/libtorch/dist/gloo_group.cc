#include "libtorch/dist/gloo_group.h"

#include <ATen/ops/zeros.h>
#include <arpa/inet.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dist/one_gpu_each.h"
#include "dist/peers.h"
#include "libtorch/bridge.h"
#include "libtorch/dist/c10d_versions.h"
#include "libtorch/dist/nccl_group.h"
#include "libtorch/dist/rendezvous.h"
#include "libtorch/memory_errors.h"
#include "tensor/core/make.h"

namespace tandem::libtorch {
namespace {

using Clock = std::chrono::steady_clock;
using dist::GroupOptions;
using dist::LostPeer;
using dist::Peers;
using dist::PeersOptions;
using dist::Pending;
using dist::ProcessGroup;
using std::chrono::milliseconds;
using tensor::Tensor;

// Says how long a wait for other processes goes on before it asks whether they are still there.
constexpr milliseconds kLook{500};

// Says how often a process says that it is there, where the timeout leaves room for that.
constexpr milliseconds kBeat{1000};

// No limit of libtorch's own: a process that is late, since it mines or waits for a disk, is not
// lost. Peers tells the two apart.
constexpr milliseconds kNoLimit = std::chrono::hours(24 * 365);

// Says how long a wait for a GPU sleeps before it looks again, at first and at most.
constexpr std::chrono::microseconds kShortestPause{10};
constexpr std::chrono::microseconds kLongestPollPause{1000};

// The address of this machine from which `host` is reached; "" where that is not known.
std::string AddressTowards(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), fmt::format("{}", port).c_str(), &hints, &found) != 0) return "";
  std::string address;
  for (const addrinfo* entry = found; entry != nullptr && address.empty(); entry = entry->ai_next) {
    const int descriptor = socket(entry->ai_family, SOCK_DGRAM, 0);
    if (descriptor < 0) continue;
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    std::array<char, NI_MAXHOST> name{};
    // Nothing is sent: the system only chooses the way.
    if (connect(descriptor, entry->ai_addr, entry->ai_addrlen) == 0 &&
        getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
        getnameinfo(reinterpret_cast<const sockaddr*>(&own), size, name.data(), name.size(),
                    nullptr, 0, NI_NUMERICHOST) == 0) {
      address = name.data();
    }
    close(descriptor);
  }
  freeaddrinfo(found);
  return address;
}

// The network that the processes talk over: GLOO_SOCKET_IFNAME, as for torch.distributed, else the
// one that leads to rank 0.
auto MakeDevice(const Launch& launch) {
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");  // NOLINT(concurrency-mt-unsafe)
  if (interface != nullptr && *interface != '\0') {
    return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  }
  const std::string address = AddressTowards(launch.address, launch.port);
  return address.empty() ? c10d::ProcessGroupGloo::createDefaultDevice()
                         : c10d::ProcessGroupGloo::createDeviceForHostname(address);
}

// The tensor's memory for an operation that only moves bits. Collectives have no bf16 in all
// versions of libtorch.
at::Tensor Bits(const Tensor& x) {
  const at::Tensor bits = AsTorch(x);
  return x.dtype() == tensor::kBFloat16 ? bits.view(at::kHalf) : bits;
}

class GlooGroup final : public ProcessGroup {
 public:
  GlooGroup(const Launch& launch, const GroupOptions& options)
      : rank_(launch.rank), ranks_(launch.ranks) {
    store_ = RendezvousStore(launch, options.timeout);
    try {
      Meet(launch, *store_, options.timeout);
      peers_ = std::make_unique<Peers>(StoreForPeers(launch, options.timeout),
                                       PeersOptions{.rank = rank_,
                                                    .ranks = ranks_,
                                                    .leader = launch.address,
                                                    .timeout = options.timeout,
                                                    .beat = std::min(kBeat, options.timeout / 16)});
      Connect(launch);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw PeerLost(fmt::format("rank {} of {} could not connect to the others by {}:{}: {}",
                                 rank_, ranks_, launch.address, launch.port, FirstLine(error)));
    }
  }

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }

#if TANDEM_WITH_CUDA
  bool Takes(tensor::Device device) const override { return device.is_cpu() || device.is_cuda(); }
#endif

  Tensor AllGather(const Tensor& tensor) override {
    std::vector<int64_t> sizes = tensor.sizes().vec();
    sizes.insert(sizes.begin(), ranks_);
    const Tensor all = tensor::Empty(sizes, tensor.dtype(), tensor.device());
    std::vector<at::Tensor> inputs = {Bits(tensor)};
    std::vector<std::vector<at::Tensor>> outputs = {Bits(all).unbind(0)};
    Begin({tensor, all}, [&](Backend& backend) {
      return backend.allgather(outputs, inputs);
    })->Wait();
    return all;
  }

  std::unique_ptr<Pending> StartAllToAll(const Tensor& from, const Tensor& to) override {
    at::Tensor input = Bits(from), output = Bits(to);
    std::vector<int64_t> even;
    to.bump_version();
    return Begin({from, to}, [&](Backend& backend) {
      return backend.alltoall_base(output, input, even, even);
    });
  }

  std::unique_ptr<Pending> AddUp(Tensor tensor) override {
    std::vector<at::Tensor> tensors = {AsTorch(tensor)};
    tensor.bump_version();
    return Begin({tensor}, [&](Backend& backend) { return backend.allreduce(tensors); });
  }

  void Broadcast(Tensor tensor) override {
    std::vector<at::Tensor> tensors = {Bits(tensor)};
    tensor.bump_version();
    Begin({tensor}, [&](Backend& backend) { return backend.broadcast(tensors); })->Wait();
  }

  void CheckPeers() override {
    if (const std::optional<LostPeer> lost = peers_->Lost()) Throw(*lost);
  }

  void Report(int exit_code, std::string_view message) override {
    peers_->Report(exit_code, std::string(message));
  }

  void Leave() override {
    AllGather(tensor::Zeros({1}, tensor::kFloat));
    peers_->Leave();
    // Rank 0 has the store, and goes last.
    if (rank_ != 0) {
      try {
        store_->add("left", 1);
      } catch (const std::exception&) {
        // Rank 0 has waited long enough, and is gone.
      }
      return;
    }
    const Clock::time_point end = Clock::now() + milliseconds(5000);
    while (Clock::now() < end && store_->add("left", 0) < ranks_ - 1) {
      std::this_thread::sleep_for(milliseconds(2));
    }
  }

 private:
  // An operation on tensors, whose memory it keeps.
  class UnderWay final : public Pending {
   public:
    UnderWay(GlooGroup& group, WorkPointer work, std::vector<Tensor> tensors)
        : group_(group), tensors_(std::move(tensors)), work_(std::move(work)) {}
    void Wait() override {
      tensors_.front().is_cpu() ? group_.WaitFor(*work_) : group_.WaitForDevice(*work_);
    }

   private:
    GlooGroup& group_;
    std::vector<Tensor> tensors_;
    WorkPointer work_;
  };

  // Connecting waits for one process after the other and cannot be told that one is lost: so it has
  // a thread of its own, which is left behind where the peers say so. Returns what `make` does.
  template <typename Make>
  auto Connected(Make make) const {
    using Group = decltype(make());
    std::packaged_task<Group()> connecting(std::move(make));
    std::future<Group> connected = connecting.get_future();
    std::thread(std::move(connecting)).detach();
    while (connected.wait_for(kLook) != std::future_status::ready) {
      if (const std::optional<LostPeer> lost = peers_->Lost()) Throw(*lost);
    }
    try {
      return connected.get();
    } catch (const std::exception& error) {
      ThrowFor(error);
    }
  }

  void Connect(const Launch& launch) {
    auto gloo = c10d::ProcessGroupGloo::Options::create();
    gloo->timeout = kNoLimit;
    gloo->devices.push_back(MakeDevice(launch));
    group_ = Connected([gloo, store = store_, rank = launch.rank, ranks = launch.ranks] {
      return c10::make_intrusive<c10d::ProcessGroupGloo>(
          c10::make_intrusive<c10d::PrefixStore>("gloo", store), rank, ranks, gloo);
    });
  }

#if TANDEM_WITH_CUDA
  // NCCL connects the processes where it first exchanges something.
  void ConnectNccl(at::Device device) {
    dist::CheckOneGpuEach(AllGatherBytes(IdentityOf(device)));
    const c10::intrusive_ptr<Backend> nccl = MakeNccl(store_, rank_, ranks_, kNoLimit);
    nccl_ = Connected([nccl, device] {
      std::vector<at::Tensor> number = {
          at::zeros({1}, at::TensorOptions(at::kFloat).device(device))};
      nccl->allreduce(number)->wait();
      return nccl;
    });
  }
#endif

  [[noreturn]] void Throw(const LostPeer& lost) const {
    const std::string message = fmt::format("this is rank {}: {}", rank_, lost.what);
    if (lost.exit_code == static_cast<int>(ExitCode::kPeerLost)) throw PeerLost(message);
    throw Error(static_cast<ExitCode>(lost.exit_code), message);
  }

  // For what libtorch has thrown: it comes from a connection, since the arguments are ours, or says
  // that this process's memory, or its device's, is full.
  [[noreturn]] void ThrowFor(const std::exception& error) const {
    if (const auto* libtorchs = dynamic_cast<const c10::Error*>(&error)) {
      ThrowIfMemoryIsFull(*libtorchs);
    }
    Throw(peers_->Find(FirstLine(error)));
  }

  // The backend for memory of a device.
  Backend& BackendOf(tensor::Device device) {
    if (device.is_cpu()) return *group_;
#if TANDEM_WITH_CUDA
    if (device.is_cuda()) {
      if (!nccl_) ConnectNccl(TorchDevice(device));
      return *nccl_;
    }
#endif
    throw std::logic_error(
        fmt::format("a group of processes cannot exchange tensors of {}", device.str()));
  }

  // Starts an operation on these tensors, all of one device.
  template <typename Operation>
  std::unique_ptr<Pending> Begin(std::vector<Tensor> tensors, const Operation& operation) {
    Backend& backend = BackendOf(tensors.front().device());
    try {
      return std::make_unique<UnderWay>(*this, operation(backend), std::move(tensors));
    } catch (const std::exception& error) {
      ThrowFor(error);
    }
  }

  template <typename Work>
  void WaitFor(Work& work) const {
    while (true) {
      try {
        work.wait(kLook);
        return;
      } catch (const std::exception& error) {
        // It may have come to its end since the wait gave up: the next one returns at once then.
        if (work.isCompleted() && !work.isSuccess()) Throw(peers_->Find(FirstLine(error)));
      }
      if (const std::optional<LostPeer> lost = peers_->Lost()) Throw(*lost);
    }
  }

  // The host waits, although only the device's next operation has to: a process that is lost would
  // otherwise be seen where nothing can be said of it any more.
  template <typename Work>
  void WaitForDevice(Work& work) const {
    try {
      for (auto pause = kShortestPause; !work.isCompleted();
           pause = std::min(2 * pause, kLongestPollPause)) {
        if (const std::optional<LostPeer> lost = peers_->Lost()) Throw(*lost);
        std::this_thread::sleep_for(pause);
      }
      if (const std::exception_ptr error = work.exception()) std::rethrow_exception(error);
      work.wait();  // returns at once; the device's current stream takes the result from here on
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      ThrowFor(error);
    }
  }

  int rank_;
  int ranks_;
  StorePointer store_;
  c10::intrusive_ptr<Backend> group_;  // of hosts' memories
#if TANDEM_WITH_CUDA
  c10::intrusive_ptr<Backend> nccl_;  // of GPUs' memories, once they are used
#endif
  std::unique_ptr<Peers> peers_;
};

}  // namespace

std::unique_ptr<ProcessGroup> JoinByGloo(const Launch& launch, const GroupOptions& options) {
#if TANDEM_WITH_CUDA
  LeaveNcclErrorsToGroups();
#endif
  return std::make_unique<GlooGroup>(launch, options);
}

}  // namespace tandem::libtorch
