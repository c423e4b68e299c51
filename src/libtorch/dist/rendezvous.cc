#include "libtorch/dist/rendezvous.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"

namespace tandem::libtorch {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The longest pause between two looks at the store.
constexpr milliseconds kLongestRetryPause{500};

std::vector<uint8_t> Bytes(const std::string& text) { return {text.begin(), text.end()}; }

StorePointer OpenStore(const Launch& launch, bool server, milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(launch.port);
  options.isServer = server;
  options.waitWorkers = false;
  options.timeout = timeout;
  ServeWithoutLibuv(options);
  const auto store = c10::make_intrusive<c10d::TCPStore>(launch.address, options);
  return c10::make_intrusive<c10d::PrefixStore>(fmt::format("tandem/{}", launch.job), store);
}

// Says whether somebody else listens on the port: bind says so before a store is made of it.
bool PortIsTaken(int port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  if (descriptor < 0) return false;
  const int yes = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  const bool taken =
      bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno == EADDRINUSE;
  close(descriptor);
  return taken;
}

class StoreOfPeers final : public dist::PeerStore {
 public:
  explicit StoreOfPeers(StorePointer store) : store_(std::move(store)) {}
  void Set(const std::string& key, const std::string& value) override {
    store_->set(key, Bytes(value));
  }
  std::string Get(const std::string& key) override {
    const std::vector<uint8_t> value = store_->get(key);
    return {value.begin(), value.end()};
  }
  int64_t Add(const std::string& key, int64_t value) override { return store_->add(key, value); }

 private:
  StorePointer store_;
};

// Returns the message that a process has left in the store for all of them; "" if there is none.
std::string WordOf(const Launch& launch, c10d::Store& store, const char* key) {
  if (!store.check({key})) return "";
  const std::vector<uint8_t> word = store.get(key);
  // The store goes with rank 0: not before the others have read it.
  if (launch.rank == 0) std::this_thread::sleep_for(2 * kLongestRetryPause);
  return {word.begin(), word.end()};
}

}  // namespace

std::string FirstLine(const std::exception& error) {
  const std::string_view text = error.what();
  return std::string(text.substr(0, text.find('\n')));
}

StorePointer RendezvousStore(const Launch& launch, milliseconds timeout) {
  const bool leads = launch.rank == 0;
  if (leads && PortIsTaken(launch.port)) {
    throw UsageError(fmt::format(
        "rank 0 cannot listen on port {}, which another process of this machine uses: it may "
        "belong to another job, or have rank 0 too; set MASTER_PORT to a free one",
        launch.port));
  }
  try {
    return OpenStore(launch, leads, timeout);
  } catch (const std::exception& error) {
    throw PeerLost(
        fmt::format("rank {} of {} does not reach rank 0 at {}:{} within {} s: see MASTER_ADDR and "
                    "MASTER_PORT, and whether rank 0 runs ({})",
                    launch.rank, launch.ranks, launch.address, launch.port, timeout.count() / 1000,
                    FirstLine(error)));
  }
}

void Meet(const Launch& launch, c10d::Store& store, milliseconds timeout) {
  if (store.add(fmt::format("came/{}", launch.rank), 1) > 1) {
    const std::string twice = fmt::format(
        "two processes of this job have rank {}: give each a RANK of its own, from 0 to {}",
        launch.rank, launch.ranks - 1);
    store.set("twice", Bytes(twice));
    std::this_thread::sleep_for(2 * kLongestRetryPause);  // until the others have read it
    throw UsageError(twice);
  }
  store.set(fmt::format("beat/{}", launch.rank), Bytes("-1 "));
  const Clock::time_point end = Clock::now() + timeout;
  std::vector<int> missing;
  for (int rank = 0; rank < launch.ranks; ++rank) missing.push_back(rank);
  for (milliseconds pause{1};; pause = std::min(2 * pause, kLongestRetryPause)) {
    std::erase_if(missing,
                  [&store](int rank) { return store.check({fmt::format("beat/{}", rank)}); });
    if (const std::string twice = WordOf(launch, store, "twice"); !twice.empty()) {
      throw UsageError(twice);
    }
    if (const std::string lacking = WordOf(launch, store, "lacking"); !lacking.empty()) {
      throw PeerLost(lacking);
    }
    if (missing.empty()) return;
    if (Clock::now() > end) {
      store.set("lacking",
                Bytes(fmt::format("of {} processes, {} {} did not come to {}:{} within {} s: see "
                                  "whether they were started and reach that address, or raise "
                                  "--timeout",
                                  launch.ranks, missing.size() == 1 ? "rank" : "ranks",
                                  fmt::join(missing, ", "), launch.address, launch.port,
                                  timeout.count() / 1000)));
      continue;
    }
    std::this_thread::sleep_for(pause);
  }
}

std::unique_ptr<dist::PeerStore> StoreForPeers(const Launch& launch, milliseconds timeout) {
  return std::make_unique<StoreOfPeers>(OpenStore(launch, /*server=*/false, timeout));
}

}  // namespace tandem::libtorch
