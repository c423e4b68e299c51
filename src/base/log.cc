#include "base/log.h"

#include <atomic>

namespace tandem {
namespace {

std::atomic<MessageSink*> installed{nullptr};

}  // namespace

MessageSink* SetMessageSink(MessageSink* sink) { return installed.exchange(sink); }
MessageSink* CurrentMessageSink() { return installed; }

void Note(std::string_view message) {
  if (MessageSink* sink = installed) sink->Note(message);
}

void Warn(std::string_view message) {
  if (MessageSink* sink = installed) sink->Warn(message);
}

}  // namespace tandem
