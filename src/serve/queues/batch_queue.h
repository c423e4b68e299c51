// Texts wait here for the encoder; the queue says who comes next.
//
// Clients take turns, each for about as many tokens, and the requests of a client take turns text
// by text. So a client with a thousand texts cannot delay another's single query by more than a few
// turns, and neither can a long request delay a short one of the same client.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "serve/queues/encode_job.h"

namespace tandem::serve {

// Texts of one backend that are encoded together.
struct Batch {
  struct Piece {
    std::shared_ptr<EncodeJob> job;
    size_t text;
  };
  std::vector<Piece> pieces;
  size_t tokens = 0;
};

class BatchQueue {
 public:
  // Says whether a request of so many tokens may wait here. A queue with less than `limit` tokens
  // takes it; a full one takes those of clients that have less than their share, up to twice
  // `limit`. An empty one takes any.
  bool Takes(const std::string& client, size_t tokens, size_t limit) const;

  // False, and nothing is queued, where it does not take the job or is closed.
  bool Push(std::shared_ptr<EncodeJob> job, size_t limit);

  // Takes what is left of a job out. `done` is not called.
  void Drop(const std::shared_ptr<EncodeJob>& job);

  // Waits for texts and returns as many as `tokens` allow, at least one; empty once the queue is
  // closed and has no text.
  Batch Next(size_t tokens);

  // Push refuses from now on.
  void Close();

  size_t tokens() const;
  size_t texts() const;
  size_t clients() const;

 private:
  struct Client {
    std::string name;
    std::deque<std::shared_ptr<EncodeJob>> jobs;
    size_t tokens = 0;
    // Tokens that it may still take in its turn; below 0 what it took too much.
    int64_t credit = 0;
  };
  using Clients = std::list<Client>;

  bool Admits(const std::string& client, size_t tokens, size_t limit) const;
  // Moves texts of the client at the front into the batch; false where the batch is full.
  bool Take(Client& client, size_t budget, Batch* batch);
  void Forget(Clients::iterator client);

  mutable std::mutex mutex_;
  std::condition_variable filled_;
  Clients turns_;  // the next one in front
  std::unordered_map<std::string, Clients::iterator> by_name_;
  size_t tokens_ = 0;
  size_t texts_ = 0;
  bool closed_ = false;
};

}  // namespace tandem::serve
