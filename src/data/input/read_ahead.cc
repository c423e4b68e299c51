#include "data/input/read_ahead.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace tandem::data {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;
constexpr size_t kBlocks = 4;  // that are read and not taken yet, at most

struct Block {
  std::vector<char> bytes;
  size_t size = 0;  // of them, those that were read
};

class ReadAheadSource final : public ByteSource {
 public:
  ReadAheadSource(std::unique_ptr<ByteSource> source, size_t start_at)
      : source_(std::move(source)), start_at_(start_at) {}
  ReadAheadSource(const ReadAheadSource&) = delete;
  ReadAheadSource& operator=(const ReadAheadSource&) = delete;
  ~ReadAheadSource() override {
    {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
  }

  size_t Read(char* out, size_t size) override {
    if (!thread_.joinable()) {
      if (read_ < start_at_) {
        const size_t got = source_->Read(out, size);
        read_ += got;
        return got;
      }
      thread_ = std::jthread([this] { ReadAll(); });
    }
    if (taken_ == current_.size && !NextBlock()) return 0;
    const size_t count = std::min(size, current_.size - taken_);
    std::memcpy(out, current_.bytes.data() + taken_, count);
    taken_ += count;
    return count;
  }

 private:
  // False at the end.
  bool NextBlock() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !blocks_.empty() || ended_; });
    if (blocks_.empty()) {
      if (failure_) std::rethrow_exception(failure_);
      return false;
    }
    spare_.push_back(std::exchange(current_, std::move(blocks_.front())));
    blocks_.pop_front();
    taken_ = 0;
    lock.unlock();
    changed_.notify_all();
    return true;
  }

  // A block whose bytes were taken, or a new one, when there may be one more; nothing when to stop.
  std::optional<Block> SpareBlock() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return blocks_.size() < kBlocks || stopped_; });
    if (stopped_) return std::nullopt;
    if (spare_.empty()) return Block();
    Block block = std::move(spare_.back());
    spare_.pop_back();
    return block;
  }

  // The body of the thread.
  void ReadAll() {
    try {
      while (std::optional<Block> block = SpareBlock()) {
        if (block->bytes.empty()) block->bytes.resize(kBlockBytes);
        block->size = source_->Read(block->bytes.data(), block->bytes.size());
        if (block->size == 0) break;
        {
          const std::scoped_lock lock(mutex_);
          blocks_.push_back(std::move(*block));
        }
        changed_.notify_all();
      }
    } catch (...) {
      failure_ = std::current_exception();  // read after `ended_` only
    }
    {
      const std::scoped_lock lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
  }

  std::unique_ptr<ByteSource> source_;  // the thread's, once there is one
  size_t start_at_;
  size_t read_ = 0;  // before there was a thread
  Block current_;
  size_t taken_ = 0;  // bytes of current_

  std::mutex mutex_;  // of these five
  std::deque<Block> blocks_;
  std::vector<Block> spare_;  // their memory is used again
  std::exception_ptr failure_;
  bool ended_ = false;
  bool stopped_ = false;
  std::condition_variable changed_;

  std::jthread thread_;  // the last member, so that it ends before the others do
};

}  // namespace

std::unique_ptr<ByteSource> ReadAhead(std::unique_ptr<ByteSource> source, size_t start_at) {
  return std::make_unique<ReadAheadSource>(std::move(source), start_at);
}

}  // namespace tandem::data
