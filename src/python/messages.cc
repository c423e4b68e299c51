#include "python/messages.h"

#include <nanobind/nanobind.h>

#include <string_view>

#include "base/log.h"

namespace tandem::python {
namespace {

namespace nb = nanobind;

// The levels of Python's logging.
constexpr int kInfo = 20;
constexpr int kWarning = 30;

class LoggingSink final : public MessageSink {
 public:
  void Note(std::string_view message) override { Log(kInfo, message); }
  void Warn(std::string_view message) override { Log(kWarning, message); }

 private:
  static void Log(int level, std::string_view message) {
    const nb::gil_scoped_acquire gil;
    try {
      const nb::object logger =
          nb::module_::import_("logging").attr("getLogger")("tandem_retrieval");
      const nb::object text =
          nb::module_::import_("tandem_retrieval._errors")
              .attr("in_words_of_python")(nb::str(message.data(), message.size()));
      logger.attr("log")(level, "%s", text);
    } catch (nb::python_error& error) {
      // A handler of the user's that raises must not end the work.
      error.discard_as_unraisable("tandem_retrieval: a message");
    }
  }
};

}  // namespace

void LogMessages() {
  static LoggingSink sink;
  SetMessageSink(&sink);
}

}  // namespace tandem::python
