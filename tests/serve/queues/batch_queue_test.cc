#include "serve/queues/batch_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "serve/fake_backend.h"

namespace tandem::serve {
namespace {

using testing::ElementsAre;

constexpr size_t kNoLimit = 1'000'000;

std::shared_ptr<EncodeJob> Job(const std::shared_ptr<Backend>& backend, const std::string& client,
                               size_t texts, size_t tokens) {
  const auto job = std::make_shared<EncodeJob>();
  job->backend = backend;
  job->client = client;
  for (size_t i = 0; i < texts; ++i) {
    job->texts.ids.insert(job->texts.ids.end(), tokens, 7);
    job->texts.starts.push_back(static_cast<int64_t>(job->texts.ids.size()));
    job->kinds.push_back(TextKind::kDocument);
  }
  return job;
}

// Says how many texts of each client a batch has.
std::map<std::string, size_t> Clients(const Batch& batch) {
  std::map<std::string, size_t> clients;
  for (const Batch::Piece& piece : batch.pieces) ++clients[piece.job->client];
  return clients;
}

class BatchQueueTest : public testing::Test {
 protected:
  bool Push(const std::string& client, size_t texts, size_t tokens, size_t limit = kNoLimit) {
    return queue_.Push(Job(backend_, client, texts, tokens), limit);
  }
  std::shared_ptr<Backend> backend_ = std::make_shared<FakeBackend>();
  BatchQueue queue_;
};

TEST_F(BatchQueueTest, BatchesHoldTheirBudgetAndAtLeastOneText) {
  Push("a", 10, 100);
  EXPECT_EQ(queue_.Next(350).pieces.size(), 3u);
  EXPECT_EQ(queue_.Next(10).pieces.size(), 1u);
  EXPECT_EQ(queue_.texts(), 6u);
  EXPECT_EQ(queue_.tokens(), 600u);
  const Batch rest = queue_.Next(10'000);
  EXPECT_EQ(rest.tokens, 600u);
  EXPECT_EQ(rest.pieces.back().text, 9u);
  EXPECT_EQ(queue_.clients(), 0u);
}

TEST_F(BatchQueueTest, ASingleQueryDoesNotWaitForAnothersThousandTexts) {
  Push("bulk", 1000, 100);
  Push("one", 1, 10);
  EXPECT_EQ(Clients(queue_.Next(1000))["one"], 1u);
}

TEST_F(BatchQueueTest, ASingleQueryDoesNotWaitForItsOwnClientsThousandTexts) {
  Push("a", 1000, 100);
  const auto query = Job(backend_, "a", 1, 10);
  queue_.Push(query, kNoLimit);
  const Batch batch = queue_.Next(1000);
  EXPECT_EQ(batch.pieces[1].job, query);
}

TEST_F(BatchQueueTest, ClientsGetTheSameTokensNotTheSameTexts) {
  Push("long", 1000, 500);
  Push("short", 1000, 10);
  std::map<std::string, size_t> tokens;
  for (int i = 0; i < 8; ++i) {
    for (const Batch::Piece& piece : queue_.Next(1024).pieces) {
      tokens[piece.job->client] += piece.job->texts[piece.text].size();
    }
  }
  EXPECT_NEAR(static_cast<double>(tokens["long"]) / static_cast<double>(tokens["short"]), 1, 0.25);
}

TEST_F(BatchQueueTest, ManyRequestsOfOneClientDoNotOutweighOneOfAnother) {
  for (int i = 0; i < 50; ++i) Push("many", 20, 64);
  Push("one", 50, 64);
  size_t many = 0, one = 0;
  while (one < 50) {
    const auto clients = Clients(queue_.Next(1024));
    many += clients.contains("many") ? clients.at("many") : 0;
    one += clients.contains("one") ? clients.at("one") : 0;
  }
  EXPECT_NEAR(static_cast<double>(many), 50, 16);
}

TEST_F(BatchQueueTest, ABatchIsOfOneBackend) {
  Push("a", 3, 10);
  const auto other = std::make_shared<FakeBackend>();
  queue_.Push(Job(other, "a", 3, 10), kNoLimit);
  size_t texts = 0;
  while (texts < 6) {
    const Batch batch = queue_.Next(kNoLimit);
    for (const Batch::Piece& piece : batch.pieces) {
      EXPECT_EQ(piece.job->backend, batch.pieces.front().job->backend);
    }
    texts += batch.pieces.size();
  }
}

TEST_F(BatchQueueTest, AFullQueueStillTakesFromClientsWithLessThanTheirShare) {
  EXPECT_TRUE(Push("bulk", 1, 5000, 1000));  // an empty one takes any
  EXPECT_FALSE(Push("bulk", 1, 1, 1000));
  EXPECT_FALSE(Push("other", 1, 100, 1000));  // more than twice the limit is there
  queue_.Next(kNoLimit);
  EXPECT_TRUE(Push("bulk", 10, 100, 1000));
  EXPECT_FALSE(Push("bulk", 1, 1, 1000));
  EXPECT_TRUE(Push("other", 1, 400, 1000));
  EXPECT_FALSE(Push("other", 2, 100, 1000));  // above its half
  EXPECT_TRUE(queue_.Takes("third", 300, 1000));
  EXPECT_FALSE(queue_.Takes("third", 700, 1000));
}

TEST_F(BatchQueueTest, WhatIsDroppedIsGone) {
  const auto job = Job(backend_, "a", 10, 10);
  queue_.Push(job, kNoLimit);
  Push("b", 1, 10);
  queue_.Next(30);
  queue_.Drop(job);
  EXPECT_TRUE(job->dropped);
  queue_.Drop(job);
  EXPECT_EQ(queue_.texts(), queue_.clients());  // b's text, unless it was in the batch
  EXPECT_EQ(queue_.tokens(), 10 * queue_.texts());
}

TEST_F(BatchQueueTest, AClosedQueueEndsWhenItIsEmpty) {
  Push("a", 1, 10);
  queue_.Close();
  EXPECT_FALSE(Push("a", 1, 10));
  EXPECT_EQ(queue_.Next(100).pieces.size(), 1u);
  EXPECT_TRUE(queue_.Next(100).pieces.empty());
}

// ThreadSanitizer looks on: several threads push and drop while one takes.
TEST_F(BatchQueueTest, EveryTextComesOnceWhateverTheThreadsDo) {
  constexpr size_t kThreads = 4, kJobs = 50, kTexts = 7;
  std::atomic<size_t> taken = 0;
  std::thread encoder([&] {
    for (Batch batch = queue_.Next(64); !batch.pieces.empty(); batch = queue_.Next(64)) {
      taken += batch.pieces.size();
    }
  });
  std::vector<std::thread> clients;
  for (size_t t = 0; t < kThreads; ++t) {
    clients.emplace_back([&, t] {
      for (size_t j = 0; j < kJobs; ++j) {
        ASSERT_TRUE(queue_.Push(Job(backend_, std::to_string(t), kTexts, 5), kNoLimit));
        const auto dropped = Job(backend_, std::to_string(t), 1, 5);
        dropped->next = 1;  // of which nothing is left
        queue_.Drop(dropped);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  queue_.Close();
  encoder.join();
  EXPECT_EQ(taken, kThreads * kJobs * kTexts);
  EXPECT_EQ(queue_.tokens(), 0u);
}

}  // namespace
}  // namespace tandem::serve
