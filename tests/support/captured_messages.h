// Collects the messages of libraries while it lives, in place of the sink that was installed.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "base/log.h"

namespace tandem {

class CapturedMessages final : public MessageSink {
 public:
  explicit CapturedMessages(ProgressView view = ProgressView::kNone)
      : view_(view), before_(SetMessageSink(this)) {}
  CapturedMessages(const CapturedMessages&) = delete;
  CapturedMessages& operator=(const CapturedMessages&) = delete;
  ~CapturedMessages() override { SetMessageSink(before_); }

  void Note(std::string_view message) override { Add(message, "\n"); }
  void Warn(std::string_view message) override { Add("warning: ", message, "\n"); }
  ProgressView progress_view() const override { return view_; }
  void WriteProgress(std::string_view text) override { Add(text); }

  // Everything so far: lines, warnings with a label in front.
  std::string text() const {
    const std::scoped_lock lock(mutex_);
    return text_;
  }

 private:
  template <typename... Parts>
  void Add(Parts... parts) {
    const std::scoped_lock lock(mutex_);
    (text_.append(parts), ...);
  }

  mutable std::mutex mutex_;
  std::string text_;
  ProgressView view_;
  MessageSink* before_;
};

}  // namespace tandem
