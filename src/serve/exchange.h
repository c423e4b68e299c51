// One request of POST on its way: parse, tokenise, wait, encode, answer. Its route (serve/route.h)
// parses and answers; the rest is the same for all. Only service.cc includes it.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "serve/queues/encode_job.h"
#include "serve/route.h"
#include "serve/service.h"

namespace tandem::serve {

class Service::Exchange final : public PendingRequest,
                                public std::enable_shared_from_this<Service::Exchange> {
 public:
  struct Start {
    const Route& route;
    std::string body;
    std::string client;
    Responder respond;
  };
  Exchange(Service& service, Start start);
  ~Exchange() override;

  // Begins on a worker.
  void Begin();

  void Cancel() override;
  size_t texts_left() const override;

 private:
  // Runs `step` on a pool; what it throws becomes the answer.
  void Go(WorkerPool& pool, void (Exchange::*step)());
  void Parse();
  void Tokenize();
  void Queue();
  void Answer();

  EncodedRows Encoded() const;
  void Respond(Response response);
  void RespondBody(std::string body);
  void RespondOutOfMemory();
  // Counts bytes that this request is about to take, until its end; throws ApiError where there are
  // too many of all requests.
  void Reserve(size_t bytes);
  // Serves highlights: waits until the encoder has done these, too.
  std::vector<float> Embed(std::span<const std::string_view> texts);
  // Waits until the encoder has done a part of them. Throws where nobody waits for the answer.
  void EncodePassages(const std::shared_ptr<EncodeJob>& passages);

  using Clock = std::chrono::steady_clock;

  Service& service_;
  const Route& route_;
  const std::unique_ptr<PostedRequest> request_;
  std::string body_;
  Responder respond_;
  std::shared_ptr<Backend> backend_;
  const Clock::time_point start_ = Clock::now();

  std::vector<std::string> texts_;  // to tokenise
  size_t tokenized_ = 0;
  std::shared_ptr<EncodeJob> job_;
  size_t reserved_ = 0;       // bytes
  size_t passage_bytes_ = 0;  // of these, for embeddings of the passages of one query

  std::mutex answering_;  // no answer once Cancel has returned
  std::atomic<bool> cancelled_ = false;
  mutable std::mutex mutex_;
  std::shared_ptr<EncodeJob> passages_;  // of Embed
};

}  // namespace tandem::serve
