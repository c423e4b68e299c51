// The texts of one request on their way through the encoder.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serve/backend.h"
#include "text/tokenizer.h"

namespace tandem::serve {

struct EncodeJob {
  std::shared_ptr<Backend> backend;
  std::string client;  // whose turn it takes
  text::EncodedTexts texts;
  std::vector<TextKind> kinds;  // of each text
  std::vector<float> rows;      // [texts, E], filled piece by piece
  // Called once, by the thread that encodes: true when all rows are there, false when encoding
  // threw. Never called for a job that was dropped.
  std::function<void(bool encoded)> done;

  std::atomic<bool> dropped = false;  // nobody waits for it any more
  std::atomic<bool> failed = false;   // encoding threw for one of its texts
  std::atomic<size_t> waiting = 0;    // texts that are not encoded yet

  // The queue's own, under its lock.
  size_t next = 0;  // first text that is in no batch yet
};

}  // namespace tandem::serve
