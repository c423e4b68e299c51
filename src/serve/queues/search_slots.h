// Says how many searches look for documents at a time: each uses all threads, and more at once
// would only take them from each other and from the encoder.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace tandem::serve {

class SearchSlots {
 public:
  explicit SearchSlots(size_t slots) : free_(slots) {}

  // Has a slot as long as it lives.
  class Search {
   public:
    explicit Search(SearchSlots& slots) : slots_(slots) { slots_.Take(); }
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;
    ~Search() { slots_.Give(); }

   private:
    SearchSlots& slots_;
  };

  // Leaves a search's slot to others as long as it lives, and waits for one at its end.
  class Pause {
   public:
    explicit Pause(SearchSlots& slots) : slots_(slots) { slots_.Give(); }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    ~Pause() { slots_.Take(); }

   private:
    SearchSlots& slots_;
  };

 private:
  void Take() {
    std::unique_lock lock(mutex_);
    given_.wait(lock, [&] { return free_ > 0; });
    --free_;
  }
  void Give() {
    const std::lock_guard lock(mutex_);
    ++free_;
    given_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable given_;
  size_t free_;
};

}  // namespace tandem::serve
