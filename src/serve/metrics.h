// Counts of what the server does, as Prometheus reads them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/backend.h"

namespace tandem::serve {

// Says how many values were at most each bound.
class Histogram {
 public:
  explicit Histogram(std::span<const double> bounds)
      : bounds_(bounds), counts_(bounds.size() + 1) {}
  void Add(double value);
  // Appends the lines of `name`, whose labels are `labels` ("route=\"/embed\"" or "").
  void AppendTo(std::string* out, std::string_view name, std::string_view labels) const;

 private:
  std::span<const double> bounds_;
  std::vector<uint64_t> counts_;  // of each bucket alone
  double sum_ = 0;
};

// Values that only their owners know, at the time of the request.
struct Gauges {
  size_t queued_texts = 0;
  size_t queued_tokens = 0;
  size_t queued_clients = 0;
  size_t connections = 0;
  size_t held_bytes = 0;  // of bodies and responses
  size_t work_bytes = 0;  // of embeddings and answers that are being made
  bool draining = false;
  std::optional<QueryWatch> watch;  // none: nothing is promised
};

// Any thread.
class Metrics {
 public:
  Metrics();
  // A request that got its answer. `route` is the path of a route, or "other".
  void CountRequest(std::string_view route, int status, double seconds);
  void CountBatch(size_t texts, size_t tokens, double seconds);
  void CountTexts(size_t texts, size_t tokens, size_t truncated);
  void CountReload(bool good);
  // A client that went away before its answer; a connection that was closed to make room.
  void CountGone() { ++gone_; }
  void CountEvicted() { ++evicted_; }
  void CountConnection() { ++accepted_; }

  // The text format 0.0.4.
  std::string Text(const Gauges& gauges) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> requests_;
  std::map<std::string, Histogram> seconds_;
  Histogram batch_texts_;
  Histogram batch_tokens_;
  double encode_seconds_ = 0;
  uint64_t encoded_tokens_ = 0;
  uint64_t encoded_texts_ = 0;
  uint64_t texts_ = 0;
  uint64_t tokens_ = 0;
  uint64_t truncated_ = 0;
  uint64_t reloads_ = 0;
  uint64_t failed_reloads_ = 0;
  std::atomic<uint64_t> gone_ = 0;
  std::atomic<uint64_t> evicted_ = 0;
  std::atomic<uint64_t> accepted_ = 0;
  double started_;  // seconds since 1970
};

}  // namespace tandem::serve
