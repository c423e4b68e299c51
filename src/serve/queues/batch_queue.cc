#include "serve/queues/batch_queue.h"

#include <algorithm>

namespace tandem::serve {
namespace {

// A client's turn has about this many: a long text, or a handful of queries.
constexpr int64_t kTurnTokens = 256;

// Returns the cost of a text. A text without tokens costs its row.
size_t Cost(const EncodeJob& job, size_t text) {
  return std::max<size_t>(1, job.texts[text].size());
}

size_t CostLeft(const EncodeJob& job) {
  size_t cost = 0;
  for (size_t text = job.next; text < job.texts.size(); ++text) cost += Cost(job, text);
  return cost;
}

}  // namespace

bool BatchQueue::Admits(const std::string& client, size_t tokens, size_t limit) const {
  if (tokens_ == 0 || tokens_ + tokens <= limit) return true;
  const auto found = by_name_.find(client);
  const size_t own = found == by_name_.end() ? 0 : found->second->tokens;
  const size_t others = turns_.size() - (found == by_name_.end() ? 0 : 1);
  return others > 0 && own + tokens <= limit / (others + 1) && tokens_ + tokens <= 2 * limit;
}

bool BatchQueue::Takes(const std::string& client, size_t tokens, size_t limit) const {
  const std::lock_guard lock(mutex_);
  return !closed_ && Admits(client, tokens, limit);
}

bool BatchQueue::Push(std::shared_ptr<EncodeJob> job, size_t limit) {
  const std::lock_guard lock(mutex_);
  const size_t cost = CostLeft(*job);
  if (closed_ || !Admits(job->client, cost, limit)) return false;
  job->waiting = job->texts.size();
  auto [entry, added] = by_name_.try_emplace(job->client);
  if (added) entry->second = turns_.insert(turns_.end(), Client{.name = job->client});
  tokens_ += cost;
  texts_ += job->texts.size();
  entry->second->tokens += cost;
  entry->second->jobs.push_back(std::move(job));
  filled_.notify_one();
  return true;
}

void BatchQueue::Forget(Clients::iterator client) {
  by_name_.erase(client->name);
  turns_.erase(client);
}

void BatchQueue::Drop(const std::shared_ptr<EncodeJob>& job) {
  const std::lock_guard lock(mutex_);
  job->dropped = true;
  const auto found = by_name_.find(job->client);
  if (found == by_name_.end()) return;
  Client& client = *found->second;
  const auto queued = std::find(client.jobs.begin(), client.jobs.end(), job);
  if (queued == client.jobs.end()) return;
  const size_t cost = CostLeft(*job);
  tokens_ -= cost;
  client.tokens -= cost;
  texts_ -= job->texts.size() - job->next;
  client.jobs.erase(queued);
  if (client.jobs.empty()) Forget(found->second);
}

bool BatchQueue::Take(Client& client, size_t budget, Batch* batch) {
  client.credit += kTurnTokens;
  while (client.credit > 0 && !client.jobs.empty()) {
    const std::shared_ptr<EncodeJob> job = client.jobs.front();
    const size_t cost = Cost(*job, job->next);
    const bool fits = batch->pieces.empty() || (batch->tokens + cost <= budget &&
                                                batch->pieces.front().job->backend == job->backend);
    if (!fits) {
      client.credit -= kTurnTokens;  // the next batch begins with its turn
      return false;
    }
    batch->pieces.push_back({job, job->next++});
    batch->tokens += cost;
    tokens_ -= cost;
    client.tokens -= cost;
    --texts_;
    client.credit -= static_cast<int64_t>(cost);
    client.jobs.pop_front();
    if (job->next < job->texts.size()) client.jobs.push_back(job);
  }
  return true;
}

Batch BatchQueue::Next(size_t tokens) {
  std::unique_lock lock(mutex_);
  filled_.wait(lock, [&] { return closed_ || texts_ > 0; });
  Batch batch;
  while (!turns_.empty()) {
    Client& client = turns_.front();
    if (!Take(client, tokens, &batch)) break;
    if (client.jobs.empty()) {
      Forget(turns_.begin());
    } else {
      turns_.splice(turns_.end(), turns_, turns_.begin());
    }
  }
  return batch;
}

void BatchQueue::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  filled_.notify_all();
}

size_t BatchQueue::tokens() const {
  const std::lock_guard lock(mutex_);
  return tokens_;
}
size_t BatchQueue::texts() const {
  const std::lock_guard lock(mutex_);
  return texts_;
}
size_t BatchQueue::clients() const {
  const std::lock_guard lock(mutex_);
  return turns_.size();
}

}  // namespace tandem::serve
