// Messages for a person: what was lossy, what was done, how far a long job is.
//
// Libraries do not print. They give each message to the sink that the program has installed, and a
// program that installs none hears nothing: its stderr stays its own. `cli/terminal.h` is the sink
// of `tandem`. Errors are thrown (base/error.h), they are no messages.
//
//   class MySink : public tandem::MessageSink { ... };
//   MySink sink;
//   tandem::SetMessageSink(&sink);
#pragma once

#include <string_view>

namespace tandem {

// Says how a sink shows the progress of a long job.
enum class ProgressView {
  kNone,   // not at all
  kLines,  // a line now and then, as in a log file
  kBar,    // one line that is drawn again and again, as on a terminal
};

// Takes messages. Several threads may call it at once.
class MessageSink {
 public:
  virtual ~MessageSink() = default;

  // A fact or a stage of the work. `message` is one line without its end.
  virtual void Note(std::string_view message) = 0;
  // Something that may change what the results mean. `message` is one line without its end.
  virtual void Warn(std::string_view message) = 0;

  virtual ProgressView progress_view() const { return ProgressView::kNone; }
  // Columns that a bar may fill; asked for with kBar only.
  virtual int columns() const { return 80; }
  // Bytes to be written as they are: a line with its end (kLines), or control characters and a
  // line (kBar).
  virtual void WriteProgress(std::string_view) {}
};

// Installs the sink of this process and returns the one before; null is silence, which is how a
// process begins. `sink` must live until another one is installed.
MessageSink* SetMessageSink(MessageSink* sink);
// The sink that is installed; null where there is none.
MessageSink* CurrentMessageSink();

// Gives a message to the sink; does nothing where there is none.
void Note(std::string_view message);
void Warn(std::string_view message);

}  // namespace tandem
