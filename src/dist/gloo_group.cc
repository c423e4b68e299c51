#include "dist/gloo_group.h"

#include <ATen/ops/empty.h>
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
#include "dist/c10d_versions.h"
#include "dist/nccl_group.h"
#include "dist/one_gpu_each.h"
#include "dist/peers.h"
#include "dist/rendezvous.h"

namespace tandem::dist {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

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
  bool Takes(at::Device device) const override { return device.is_cpu() || device.is_cuda(); }
#endif

  at::Tensor AllGather(const at::Tensor& tensor) override {
    std::vector<at::Tensor> inputs = {tensor.contiguous()};
    const at::Tensor all = at::empty(WithRanks(tensor.sizes()), tensor.options());
    std::vector<std::vector<at::Tensor>> outputs = {all.unbind(0)};
    const std::unique_ptr<Pending> pending =
        Begin(tensor, [&](Backend& backend) { return backend.allgather(outputs, inputs); });
    pending->Wait();
    return all;
  }

  std::unique_ptr<Pending> StartAllToAll(const at::Tensor& from, const at::Tensor& to) override {
    at::Tensor input = from, output = to;
    std::vector<int64_t> even;
    return Begin(
        from, [&](Backend& backend) { return backend.alltoall_base(output, input, even, even); });
  }

  std::unique_ptr<Pending> AddUp(at::Tensor tensor) override {
    std::vector<at::Tensor> tensors = {std::move(tensor)};
    return Begin(tensors[0], [&](Backend& backend) { return backend.allreduce(tensors); });
  }

  void Broadcast(at::Tensor tensor) override {
    std::vector<at::Tensor> tensors = {std::move(tensor)};
    Begin(tensors[0], [&](Backend& backend) { return backend.broadcast(tensors); })->Wait();
  }

  void CheckPeers() override {
    if (const std::optional<LostPeer> lost = peers_->Lost()) Throw(*lost);
  }

  void Report(int exit_code, std::string_view message) override {
    peers_->Report(exit_code, std::string(message));
  }

  void Leave() override {
    AllGather(at::zeros({1}));
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
  class UnderWay final : public Pending {
   public:
    UnderWay(GlooGroup& group, WorkPointer work, bool on_device)
        : group_(group), work_(std::move(work)), on_device_(on_device) {}
    void Wait() override { on_device_ ? group_.WaitForDevice(*work_) : group_.WaitFor(*work_); }

   private:
    GlooGroup& group_;
    WorkPointer work_;
    bool on_device_;
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
    } catch (const c10::OutOfMemoryError&) {
      throw;  // of this process's device
    } catch (const std::exception& error) {
      Throw(peers_->Find(FirstLine(error)));
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
    CheckOneGpuEach(AllGatherBytes(IdentityOf(device)));
    const c10::intrusive_ptr<Backend> nccl = MakeNccl(store_, rank_, ranks_, kNoLimit);
    nccl_ = Connected([nccl, device] {
      std::vector<at::Tensor> number = {
          at::zeros({1}, at::TensorOptions(at::kFloat).device(device))};
      nccl->allreduce(number)->wait();
      return nccl;
    });
  }
#endif

  std::vector<int64_t> WithRanks(at::IntArrayRef sizes) const {
    std::vector<int64_t> all(sizes.begin(), sizes.end());
    all.insert(all.begin(), ranks_);
    return all;
  }

  [[noreturn]] void Throw(const LostPeer& lost) const {
    const std::string message = fmt::format("this is rank {}: {}", rank_, lost.what);
    if (lost.exit_code == static_cast<int>(ExitCode::kPeerLost)) throw PeerLost(message);
    throw Error(static_cast<ExitCode>(lost.exit_code), message);
  }

  // The backend for memory of a tensor's kind.
  Backend& BackendOf(const at::Tensor& tensor) {
    if (tensor.device().is_cpu()) return *group_;
#if TANDEM_WITH_CUDA
    if (tensor.is_cuda()) {
      if (!nccl_) ConnectNccl(tensor.device());
      return *nccl_;
    }
#endif
    throw std::logic_error(
        fmt::format("a group of processes cannot exchange tensors of {}", tensor.device().str()));
  }

  // Starts an operation on tensors of this one's kind. What libtorch throws comes from a
  // connection, since the arguments are ours.
  template <typename Operation>
  std::unique_ptr<Pending> Begin(const at::Tensor& tensor, const Operation& operation) {
    Backend& backend = BackendOf(tensor);
    try {
      return std::make_unique<UnderWay>(*this, operation(backend), !tensor.device().is_cpu());
    } catch (const c10::OutOfMemoryError&) {
      throw;  // of this process's device
    } catch (const std::exception& error) {
      Throw(peers_->Find(FirstLine(error)));
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
    } catch (const c10::OutOfMemoryError&) {
      throw;  // of this process's device
    } catch (const std::exception& error) {
      Throw(peers_->Find(FirstLine(error)));
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
  return std::make_unique<GlooGroup>(launch, options);
}

}  // namespace tandem::dist
