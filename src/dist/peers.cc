#include "dist/peers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tandem::dist {
namespace {

using Clock = std::chrono::steady_clock;

// Beats before the timeout at which a silent process is given up: the others notice it then, and
// end.
constexpr int kBeatsToEnd = 8;
// Beats that a process may miss before it is taken for the one that broke a connection.
constexpr int kMissedBeats = 3;

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown host";
  return name.data();
}

std::string Seconds(Clock::duration duration) {
  return fmt::format("{:.0f} s", std::chrono::duration<double>(duration).count());
}

std::string KeyOf(const char* what, int rank) { return fmt::format("{}/{}", what, rank); }

}  // namespace

struct Peers::State {
  State(std::unique_ptr<PeerStore> the_store, const PeersOptions& the_options)
      : store(std::move(the_store)), options(the_options), peers(the_options.ranks) {}

  struct Peer {
    std::string beat;  // the last that was seen
    std::string host;
    Clock::time_point heard = Clock::now();
  };

  const std::unique_ptr<PeerStore> store;  // the thread's alone
  const PeersOptions options;

  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  // Under the mutex:
  std::vector<Peer> peers;                    // of rank 0 alone; others know rank 0's host only
  Clock::time_point answered = Clock::now();  // when the store answered last
  std::optional<LostPeer> reported;           // what some process left
  std::optional<LostPeer> to_report;          // this process's own
  int64_t beats = 0;                          // that are done
  bool suspecting = false;                    // a connection of this process broke
  bool leaving = false;
  bool ended = false;

  bool leads() const { return options.rank == 0; }
  Clock::duration Limit() const {
    return std::max<Clock::duration>(options.timeout / 2,
                                     options.timeout - kBeatsToEnd * options.beat);
  }
  Clock::duration ShortLimit() const {
    return std::min<Clock::duration>(options.beat * kMissedBeats, Limit());
  }
  std::string NameOf(int rank) const {
    const std::string& host = peers[static_cast<size_t>(rank)].host;
    return host.empty() ? fmt::format("rank {}", rank) : fmt::format("rank {} ({})", rank, host);
  }

  // Says, under the mutex, in a process that is not rank 0, whether rank 0 does not answer.
  std::optional<LostPeer> SilentStore(Clock::duration limit) const {
    const Clock::duration silence = Clock::now() - answered;
    if (leads() || silence <= limit) return std::nullopt;
    return LostPeer{fmt::format("{}, which leads the group, has not answered for {}", NameOf(0),
                                Seconds(silence))};
  }

  // Leaves what happened where every process looks at each beat.
  void Write(const LostPeer& lost) const {
    const int64_t place = store->Add("reports", 1);
    store->Set(fmt::format("report/{}", place), fmt::format("{} {}", lost.exit_code, lost.what));
  }

  // The first that was left.
  LostPeer Read() const {
    const std::string report = store->Get("report/1");
    const size_t space = report.find(' ');
    return {report.substr(space + 1), std::stoi(report.substr(0, space))};
  }

  // Rank 0 looks at everybody's beats, and leaves word of the first that has been silent.
  void LookAtAll() {
    const bool suspicious = store->Add("suspicions", 0) > 0;
    std::vector<std::string> all;
    for (int rank = 0; rank < options.ranks; ++rank) all.push_back(store->Get(KeyOf("beat", rank)));
    std::optional<LostPeer> lost;
    {
      const std::lock_guard lock(mutex);
      const Clock::time_point now = Clock::now();
      const Clock::duration limit = suspicious || suspecting ? ShortLimit() : Limit();
      for (int rank = 0; rank < options.ranks; ++rank) {
        Peer& peer = peers[static_cast<size_t>(rank)];
        std::string& beat = all[static_cast<size_t>(rank)];
        if (beat != peer.beat) {
          peer.heard = now;
          peer.host = beat.substr(std::min(beat.find(' ') + 1, beat.size()));
          peer.beat = std::move(beat);
        } else if (!lost && now - peer.heard > limit) {
          lost = {
              fmt::format("{} has not answered for {}", NameOf(rank), Seconds(now - peer.heard))};
        }
      }
    }
    if (lost) Write(*lost);
  }

  void Beat() {
    store->Set(KeyOf("beat", options.rank), fmt::format("{} {}", beats, HostName()));
    std::optional<LostPeer> mine;
    bool suspects = false;
    {
      const std::lock_guard lock(mutex);
      mine = std::exchange(to_report, std::nullopt);
      suspects = suspecting;
    }
    if (mine) Write(*mine);
    if (suspects && !leads()) store->Add("suspicions", 1);
    std::optional<LostPeer> left;
    if (store->Add("reports", 0) > 0) {
      left = Read();
    } else if (leads()) {
      LookAtAll();
    }
    const std::lock_guard lock(mutex);
    answered = Clock::now();
    ++beats;
    if (left && !reported) reported = std::move(left);
    changed.notify_all();
  }

  void Run() {
    for (bool go_on = true; go_on;) {
      try {
        Beat();
      } catch (const std::exception&) {
        // The store is gone with rank 0's process; `answered` says since when.
      }
      std::unique_lock lock(mutex);
      changed.wait_for(lock, options.beat, [this] { return leaving || to_report.has_value(); });
      go_on = !leaving;
    }
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  }
};

Peers::Peers(std::unique_ptr<PeerStore> store, const PeersOptions& options)
    : state_(std::make_shared<State>(std::move(store), options)) {
  if (options.rank != 0) state_->peers[0].host = options.leader;
  std::thread([state = state_] { state->Run(); }).detach();
}

Peers::~Peers() { Leave(); }

std::optional<LostPeer> Peers::Lost() const {
  const std::lock_guard lock(state_->mutex);
  if (state_->leaving) return std::nullopt;
  if (state_->reported) return state_->reported;
  return state_->SilentStore(state_->Limit());
}

LostPeer Peers::Find(const std::string& error) const {
  std::unique_lock lock(state_->mutex);
  state_->suspecting = true;
  // A beat until rank 0 knows of the suspicion, the beats that are missed, and one back.
  const Clock::time_point end = Clock::now() + 2 * state_->ShortLimit() + 3 * state_->options.beat;
  while (Clock::now() < end) {
    if (state_->reported) return *state_->reported;
    if (std::optional<LostPeer> lost = state_->SilentStore(state_->ShortLimit())) return *lost;
    state_->changed.wait_for(lock, state_->options.beat / 4);
  }
  return {fmt::format("the connection to another process broke: {}", error)};
}

void Peers::Report(int exit_code, const std::string& message) {
  std::unique_lock lock(state_->mutex);
  if (state_->leaving || state_->ended) return;
  if (!state_->reported) {
    state_->to_report = LostPeer{fmt::format("rank {} ({}) ended with an error: {}",
                                             state_->options.rank, HostName(), message),
                                 exit_code};
    state_->changed.notify_all();
  }
  // Rank 0 takes the store with it, so it waits until the others have read what is there. A store
  // that does not answer is not waited for.
  const int64_t wanted = state_->beats + (state_->leads() ? kMissedBeats : 1);
  state_->changed.wait_for(lock, state_->options.beat * (state_->leads() ? kMissedBeats + 1 : 2),
                           [&] { return state_->beats >= wanted || state_->ended; });
}

void Peers::Leave() {
  std::unique_lock lock(state_->mutex);
  state_->leaving = true;
  state_->changed.notify_all();
  state_->changed.wait_for(lock, state_->options.beat, [this] { return state_->ended; });
}

}  // namespace tandem::dist
