// Says whether the other processes of a group are still there.
//
// Every process tells the group's store at each beat that it is alive. Rank 0, whose process keeps
// the store, looks at all beats and leaves word of who is missing; one that ends with an error
// leaves that; and every process looks for such words at each of its beats. A store that does not
// answer means that rank 0 is lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tandem::dist {

// A connection to the group's store, as Peers uses it. Every function may block for as long as the
// store does not answer, and throw.
class PeerStore {
 public:
  virtual ~PeerStore() = default;
  virtual void Set(const std::string& key, const std::string& value) = 0;
  virtual std::string Get(const std::string& key) = 0;  // waits until the key is set
  virtual int64_t Add(const std::string& key, int64_t value) = 0;
};

struct PeersOptions {
  int rank = 0;
  int ranks = 1;
  std::string leader;  // rank 0's address, for messages
  // A process that has not been heard of for so long is lost.
  std::chrono::milliseconds timeout{300'000};
  std::chrono::milliseconds beat{1000};
};

// The failure of another process.
struct LostPeer {
  std::string what;   // "rank 1 (host2) has not answered for 270 s"
  int exit_code = 7;  // of this process, as it ends because of that
};

class Peers {
 public:
  // Begins to beat, on a thread of its own.
  Peers(std::unique_ptr<PeerStore> store, const PeersOptions& options);
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;
  // Where the store does not answer, the thread is left behind.
  ~Peers();

  // Whom this process has lost by now, if anybody. Never blocks.
  std::optional<LostPeer> Lost() const;
  // Says who it was that broke a connection: waits for some beats, until rank 0 knows. The answer
  // names nobody where all processes go on beating.
  LostPeer Find(const std::string& error) const;

  // Leaves the error that ends this process for the others, and waits for some beats until they can
  // have read it.
  void Report(int exit_code, const std::string& message);
  // After this call nobody is missed: the processes end.
  void Leave();

 private:
  struct State;
  std::shared_ptr<State> state_;  // the thread's too, which may outlive this object
};

}  // namespace tandem::dist
