#include "serve/routes/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "serve/routes/api_error.h"

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
    } catch (const std::bad_alloc&) {
      self->Respond(ErrorResponse(503, "out_of_memory", "the server is out of memory"));
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

void Service::Exchange::RespondBody(std::string body) {
  Response response;
  response.body = std::move(body);
  Respond(std::move(response));
}

void Service::Exchange::Expect(std::vector<std::string> texts, TextKind kind) {
  job_->kinds.insert(job_->kinds.end(), texts.size(), kind);
  job_->waiting += texts.size();
  std::move(texts.begin(), texts.end(), std::back_inserter(texts_));
}

void Service::Exchange::CheckModel(const std::string& model) const {
  const std::string& served = backend_->info().model;
  if (!model.empty() && model != served) {
    throw ApiError(
        404, "model_not_found",
        fmt::format("there is no model {}; this server has {}", model.substr(0, 100), served));
  }
}

void Service::Exchange::Parse() {
  const RequestLimits& limits = service_.options_.limits;
  switch (route_) {
    case RouteName::kOpenAiEmbeddings:
    case RouteName::kEmbed: {
      embedding_ = route_ == RouteName::kEmbed ? ParseEmbed(&body_, limits)
                                               : ParseOpenAiEmbeddings(&body_, limits);
      CheckModel(embedding_.model);
      const size_t width = backend_->info().width;
      if (embedding_.dimensions > width) {
        throw ApiError(400, "out_of_range",
                       fmt::format("`dimensions` is {}, but embeddings have {}",
                                   embedding_.dimensions, width));
      }
      Expect(std::move(embedding_.texts), embedding_.kind);
      break;
    }
    case RouteName::kSimilarity:
      similarity_ = ParseSimilarity(&body_, limits);
      Expect(similarity_.queries, TextKind::kQuery);
      Expect(std::move(similarity_.documents), TextKind::kDocument);
      break;
    default:
      if (!backend_->info().index) {
        throw ApiError(404, "no_index",
                       "this server has a model and no index; start it as tandem serve INDEX");
      }
      search_ = ParseSearch(&body_, limits);
      backend_->CheckSearch(search_.options);
      Expect(search_.queries, TextKind::kQuery);
  }
  body_ = {};
  Tokenize();
}

// A piece of the texts, and then again, behind what other requests want of the workers.
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
  const bool embeddings = route_ == RouteName::kOpenAiEmbeddings || route_ == RouteName::kEmbed;
  Reserve(texts * width * sizeof(float) +
          (embeddings ? EmbeddingAnswerBytes(embedding_, texts, width) : 0));
  job_->rows.resize(texts * width);
  job_->done = [self = weak_from_this()](bool encoded) {
    const std::shared_ptr<Exchange> exchange = self.lock();
    if (!exchange) return;
    if (!encoded) {
      exchange->Respond(ErrorResponse(500, "encoding_failed", "the texts could not be encoded"));
    } else if (exchange->route_ == RouteName::kSearch) {
      exchange->Go(exchange->service_.searchers_, &Exchange::Search);
    } else {
      exchange->Go(exchange->service_.workers_, &Exchange::Write);
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

void Service::Exchange::Write() {
  switch (route_) {
    case RouteName::kOpenAiEmbeddings:
      return RespondBody(OpenAiEmbeddingsAnswer(embedding_, Encoded(), backend_->info().model));
    case RouteName::kEmbed:
      return RespondBody(EmbedAnswer(embedding_, Encoded()));
    default:
      return RespondBody(SimilarityAnswer(similarity_, Encoded(), *backend_));
  }
}

void Service::Exchange::Search() {
  const SearchSlots::Search slot(service_.slots_);
  const EncodedRows encoded = Encoded();
  const auto embed = [this](std::span<const std::string_view> texts) { return Embed(texts); };
  const std::vector<std::vector<Found>> found =
      backend_->Search(encoded.rows.data(), search_.queries.size(), search_.options, embed);
  const double milliseconds =
      std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  RespondBody(
      SearchAnswer(search_, found, encoded, milliseconds, service_.options_.limits.answer_bytes));
}

std::vector<float> Service::Exchange::Embed(std::span<const std::string_view> texts) {
  const size_t width = backend_->info().width;
  const size_t bytes = texts.size() * width * sizeof(float);
  if (bytes > passage_bytes_) {  // those of the query before are no longer there
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
  // Turns of their own: the search has waited for its query behind the client's other texts, and
  // must not wait again with a thread that others could use.
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
