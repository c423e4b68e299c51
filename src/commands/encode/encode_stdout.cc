#include "commands/encode/encode_stdout.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "base/json/json.h"
#include "embeddings/layouts/npy.h"

namespace tandem::app {
namespace {

void WriteOut(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return;
  throw OutputError("standard output", "cannot be written", errno);
}

void FlushOut() {
  if (std::fflush(stdout) != 0) throw OutputError("standard output", "cannot be written", errno);
}

// Writes the formats "npy" and "raw".
class RowOutput final : public embeddings::BlockOutput {
 public:
  RowOutput(bool header, size_t width) : header_(header), width_(width) {}

  void Begin(std::optional<uint64_t> total) override {
    if (!header_) return;
    if (!total) throw std::logic_error("a .npy stream needs the number of its rows");
    WriteOut(embeddings::NpyHeader(*total, width_));
  }
  void Write(const embeddings::EncodedBlock& block) override {
    WriteOut({reinterpret_cast<const char*>(block.rows.data()), block.rows.size_bytes()});
    FlushOut();
  }
  void Finish() override {}

 private:
  bool header_;
  size_t width_;
};

class JsonLineOutput final : public embeddings::BlockOutput {
 public:
  explicit JsonLineOutput(size_t width) : width_(width) {}

  void Begin(std::optional<uint64_t>) override {}
  void Write(const embeddings::EncodedBlock& block) override {
    std::string_view ids = block.ids;
    for (size_t i = 0; i < block.counts.texts; ++i) {
      const std::string_view id = ids.substr(0, ids.find('\n'));
      ids.remove_prefix(id.size() + 1);
      WriteLine(id, block.rows.subspan(i * width_, width_));
    }
    FlushOut();
  }
  void Finish() override {}

 private:
  void WriteLine(std::string_view id, std::span<const float> row) {
    line_ = fmt::format("{{\"id\":{},\"embedding\":[", Json(id).Dump());
    for (const float value : row) {
      if (!std::isfinite(value)) {
        throw NumericError(
            fmt::format("the embedding of text {} has numbers that are not finite", id));
      }
      fmt::format_to(std::back_inserter(line_), "{},", value);  // the shortest that is read as it
    }
    line_.back() = ']';
    line_ += "}\n";
    WriteOut(line_);
  }

  size_t width_;
  std::string line_;
};

}  // namespace

std::unique_ptr<embeddings::BlockOutput> MakeEncodeStdout(std::string_view format, size_t width) {
  if (format == "jsonl") return std::make_unique<JsonLineOutput>(width);
  return std::make_unique<RowOutput>(format == "npy", width);
}

}  // namespace tandem::app
