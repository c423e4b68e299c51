// Answers requests: everything between a parsed request and its response, without sockets.
//
// A request passes through three kinds of threads: workers parse and tokenise it and write its
// answer, one thread encodes batches of all requests' texts, and searchers look for documents.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/backend.h"
#include "serve/http/http_message.h"
#include "serve/metrics.h"
#include "serve/queues/batch_queue.h"
#include "serve/queues/batcher.h"
#include "serve/queues/search_slots.h"
#include "serve/queues/work_memory.h"
#include "serve/queues/worker_pool.h"
#include "serve/route.h"

namespace tandem::serve {

struct ServiceOptions {
  RequestLimits limits;
  size_t workers = 2;
  size_t searches = 2;  // that look for documents at a time
  // A queue is full with more tokens than this. 0: what is encoded in queue_seconds, as measured.
  size_t queue_tokens = 0;
  double queue_seconds = 15;
  // Embeddings and answers that are being made, together; above it requests of more than a few
  // texts are refused.
  size_t work_bytes = size_t{512} << 20;
  std::vector<std::string> tokens;   // of clients; none: nobody needs one
  std::vector<std::string> origins;  // of pages that may ask from elsewhere; "*": all
};

// A request that is being answered.
class PendingRequest {
 public:
  virtual ~PendingRequest() = default;
  // Nobody waits for the answer any more: what is not encoded yet will not be.
  virtual void Cancel() = 0;
  // Texts that are not encoded yet.
  virtual size_t texts_left() const = 0;
};

// Takes the answer; called once, by any thread; must return soon. It is not called after Cancel has
// returned.
using Responder = std::function<void(Response)>;

class Service {
 public:
  // Opens the backend. Throws what `open` throws.
  Service(OpenBackend open, ServiceOptions options);
  ~Service();

  // Called when the head of a request is there: the response that refuses it, whatever its body
  // is.
  std::optional<Response> Screen(const RequestHead& head) const;

  // Answers a request that Screen let through. `client` is whose turn it takes among others. The
  // caller keeps what is returned until the answer, else there is none; null where the answer has
  // been given already.
  std::shared_ptr<PendingRequest> Handle(const RequestHead& head, std::string body,
                                         const std::string& client, Responder respond);

  // Says who asks: "token 2" where there are several tokens, "header X" where the proxy names
  // clients, else the address, of IPv6 the /64 network.
  std::string ClientOf(const RequestHead& head, const std::string& address) const;

  // Opens the backend again; requests that come from now on get the new one, those before keep
  // theirs. Throws what `open` throws, and the old backend stays.
  void Reload();

  // After this call requests are refused with 503, and /health says so.
  void Drain() { draining_ = true; }
  bool draining() const { return draining_; }

  // Adds to every answer headers for pages of other origins, and counts it in the metrics.
  void Finish(const RequestHead& head, double seconds, Response* response);

  std::shared_ptr<Backend> backend() const;
  Metrics& metrics() { return metrics_; }
  BatchQueue& queue() { return queue_; }
  const ServiceOptions& options() const { return options_; }
  const std::string& openapi() const { return openapi_; }
  // Gives the metrics in Prometheus's text format.
  std::string MetricsText() const;
  // `fill` adds the gauges of connections and bytes, which the server knows.
  void SetConnectionGauges(std::function<void(Gauges*)> fill) { fill_gauges_ = std::move(fill); }

 private:
  class Exchange;
  friend class Exchange;

  size_t QueueLimit() const;
  Response QueueFull() const;
  bool AllowsOrigin(std::string_view origin) const;

  OpenBackend open_;
  ServiceOptions options_;
  const std::string openapi_;
  mutable std::mutex mutex_;  // of backend_
  std::shared_ptr<Backend> backend_;
  std::mutex reloading_;
  std::atomic<bool> draining_ = false;
  std::function<void(Gauges*)> fill_gauges_;
  Metrics metrics_;
  BatchQueue queue_;
  WorkMemory memory_;
  SearchSlots slots_;
  WorkerPool workers_;
  WorkerPool searchers_;
  std::unique_ptr<Batcher> batcher_;
};

}  // namespace tandem::serve
