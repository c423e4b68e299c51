// Messages of trials: notes of each would be read by nobody, and a warning is read once.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "base/log.h"

namespace tandem::tune {

// While an object exists, notes are dropped and a warning is given once to the sink that was there.
class QuietSink final : public MessageSink {
 public:
  // `warned` has the warnings that were given already, and must outlive the object.
  explicit QuietSink(std::set<std::string>& warned)
      : warned_(warned), inner_(SetMessageSink(this)) {}
  QuietSink(const QuietSink&) = delete;
  QuietSink& operator=(const QuietSink&) = delete;
  ~QuietSink() override { SetMessageSink(inner_); }

  void Note(std::string_view /*message*/) override {}
  void Warn(std::string_view message) override {
    const std::lock_guard lock(mutex_);
    if (inner_ != nullptr && warned_.emplace(message).second) inner_->Warn(message);
  }
  ProgressView progress_view() const override {
    return inner_ != nullptr ? inner_->progress_view() : ProgressView::kNone;
  }
  int columns() const override { return inner_ != nullptr ? inner_->columns() : 80; }
  void WriteProgress(std::string_view bytes) override {
    if (inner_ != nullptr) inner_->WriteProgress(bytes);
  }

 private:
  std::mutex mutex_;
  std::set<std::string>& warned_;
  MessageSink* inner_;
};

}  // namespace tandem::tune
