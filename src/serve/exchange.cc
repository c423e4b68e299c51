#include "serve/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <new>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "serve/bodies/api_error.h"

namespace tandem::serve {
namespace {

// Bytes of texts that a worker tokenises before others have their turn: some milliseconds.
constexpr size_t kTurnBytes = size_t{64} << 10;
constexpr std::chrono::milliseconds kCancelCheck{20};
// Passages that wait for the encoder at a time, of a search: a full batch. More would fill the
// queue for others.
constexpr size_t kPassageTokens = 8192;

}  // namespace

Service::Exchange::Exchange(Service& service, Start start)
    : service_(service),
      route_(start.route),
      request_(route_.post()),
      body_(std::move(start.body)),
      respond_(std::move(start.respond)),
      backend_(service.backend()),
      job_(std::make_shared<EncodeJob>()) {
  job_->backend = backend_;
  job_->client = std::move(start.client);
}

Service::Exchange::~Exchange() { service_.memory_.Give(reserved_); }

void Service::Exchange::Reserve(size_t bytes) {
  if (!service_.memory_.Take(bytes, reserved_)) {
    throw ApiError(429, "memory_full", "too much is in memory; come again later");
  }
  reserved_ += bytes;
}

void Service::Exchange::Begin() { Go(service_.workers_, &Exchange::Parse); }

void Service::Exchange::Go(WorkerPool& pool, void (Exchange::*step)()) {
  pool.Post(job_->client, [self = shared_from_this(), step] {
    if (self->cancelled_) return;
    try {
      (*self.*step)();
    } catch (const ApiError& error) {
      Response response = ErrorResponse(error.status(), error.code(), error.what());
      if (error.status() == 429) response.headers.emplace_back("Retry-After", "1");
      self->Respond(std::move(response));
    } catch (const UsageError& error) {
      self->Respond(ErrorResponse(400, "invalid_value", error.what()));
    } catch (const MemoryError&) {
      self->RespondOutOfMemory();
    } catch (const std::bad_alloc&) {
      self->RespondOutOfMemory();
    } catch (const std::exception& error) {
      Warn(fmt::format("a request failed: {}", error.what()));
      self->Respond(
          ErrorResponse(500, "internal_error", "the server could not answer; see its log"));
    }
  });
}

void Service::Exchange::Cancel() {
  {
    const std::lock_guard lock(answering_);
    cancelled_ = true;
  }
  service_.queue_.Drop(job_);
  const std::lock_guard lock(mutex_);
  if (passages_) service_.queue_.Drop(passages_);
}

size_t Service::Exchange::texts_left() const {
  const std::lock_guard lock(mutex_);
  return job_->waiting + (passages_ ? passages_->waiting.load() : 0);
}

void Service::Exchange::Respond(Response response) {
  const std::lock_guard lock(answering_);
  if (!cancelled_) respond_(std::move(response));
}

void Service::Exchange::RespondOutOfMemory() {
  Respond(ErrorResponse(503, "out_of_memory", "the server is out of memory"));
}

void Service::Exchange::RespondBody(std::string body) {
  Response response;
  response.body = std::move(body);
  Respond(std::move(response));
}

void Service::Exchange::Parse() {
  RequestTexts texts;
  request_->Parse(&body_, *backend_, service_.options_.limits, &texts);
  body_ = {};
  texts_ = std::move(texts.texts);
  job_->kinds = std::move(texts.kinds);
  job_->waiting = texts_.size();
  Tokenize();
}

// Tokenises a piece of the texts, then queues again, after what other requests want of the workers.
void Service::Exchange::Tokenize() {
  for (size_t bytes = 0; tokenized_ < texts_.size() && bytes < kTurnBytes; ++tokenized_) {
    bytes += texts_[tokenized_].size() + 1;
    backend_->Tokenize(texts_[tokenized_], job_->kinds[tokenized_], &job_->texts);
  }
  if (tokenized_ < texts_.size()) return Go(service_.workers_, &Exchange::Tokenize);
  texts_ = {};
  Queue();
}

void Service::Exchange::Queue() {
  const size_t texts = job_->texts.size(), width = backend_->info().width;
  Reserve(texts * width * sizeof(float) + request_->AnswerBytes(texts, width));
  job_->rows.resize(texts * width);
  job_->done = [self = weak_from_this()](bool encoded) {
    const std::shared_ptr<Exchange> exchange = self.lock();
    if (!exchange) return;
    if (!encoded) {
      exchange->Respond(ErrorResponse(500, "encoding_failed", "the texts could not be encoded"));
    } else {
      Service& service = exchange->service_;
      exchange->Go(exchange->route_.searches ? service.searchers_ : service.workers_,
                   &Exchange::Answer);
    }
  };
  if (!service_.queue_.Push(job_, service_.QueueLimit())) return Respond(service_.QueueFull());
  service_.metrics_.CountTexts(job_->texts.size(), job_->texts.ids.size(), job_->texts.truncated);
  // Dropped here where the client went away before there was anything to drop.
  if (cancelled_) service_.queue_.Drop(job_);
}

EncodedRows Service::Exchange::Encoded() const {
  const auto finite = [](float value) { return std::isfinite(value); };
  if (!std::all_of(job_->rows.begin(), job_->rows.end(), finite)) {
    throw ApiError(500, "not_finite", "an embedding has a number that is not finite");
  }
  return {.rows = job_->rows,
          .width = backend_->info().width,
          .tokens = job_->texts.ids.size(),
          .truncated = job_->texts.truncated};
}

void Service::Exchange::Answer() {
  std::optional<SearchSlots::Search> slot;
  if (route_.searches) slot.emplace(service_.slots_);
  RespondBody(request_->Answer(
      {.encoded = Encoded(),
       .backend = *backend_,
       .limits = service_.options_.limits,
       .embed = [this](std::span<const std::string_view> texts) { return Embed(texts); },
       .milliseconds =
           [this] {
             return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
           }}));
}

std::vector<float> Service::Exchange::Embed(std::span<const std::string_view> texts) {
  const size_t width = backend_->info().width;
  const size_t bytes = texts.size() * width * sizeof(float);
  if (bytes > passage_bytes_) {  // the passages of the query before have been freed
    Reserve(bytes - passage_bytes_);
    passage_bytes_ = bytes;
  }
  const SearchSlots::Pause pause(service_.slots_);
  std::vector<float> rows;
  rows.reserve(texts.size() * width);
  for (size_t done = 0; done < texts.size();) {
    const auto passages = std::make_shared<EncodeJob>();
    while (done < texts.size() && passages->texts.ids.size() < kPassageTokens) {
      backend_->Tokenize(texts[done++], TextKind::kDocument, &passages->texts);
    }
    EncodePassages(passages);
    rows.insert(rows.end(), passages->rows.begin(), passages->rows.end());
  }
  return rows;
}

void Service::Exchange::EncodePassages(const std::shared_ptr<EncodeJob>& passages) {
  passages->backend = backend_;
  // Passages have turns of their own: the search has waited for its query after the client's other
  // texts, and must not wait again with a thread that others could use.
  passages->client = job_->client + " passages";
  passages->kinds.assign(passages->texts.size(), TextKind::kDocument);
  passages->rows.resize(passages->texts.size() * backend_->info().width);
  const auto promise = std::make_shared<std::promise<bool>>();
  std::future<bool> encoded = promise->get_future();
  passages->done = [promise](bool good) { promise->set_value(good); };
  {
    const std::lock_guard lock(mutex_);
    passages_ = passages;
  }
  // The request has been let in; its passages are part of it.
  if (!service_.queue_.Push(passages, std::numeric_limits<size_t>::max() / 2)) {
    throw ApiError(503, "draining", "the server ends");
  }
  while (encoded.wait_for(kCancelCheck) != std::future_status::ready) {
    if (cancelled_) {
      service_.queue_.Drop(passages);
      throw ApiError(503, "cancelled", "nobody waits for this answer");
    }
  }
  if (!encoded.get()) throw ApiError(500, "encoding_failed", "passages could not be encoded");
}

}  // namespace tandem::serve
