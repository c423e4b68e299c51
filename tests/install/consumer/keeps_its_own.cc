// Trains a small model with the installed rooms, and shows that the program keeps what is its own:
// the allocator of tensors, the thread count, the signal handlers, stdout and stderr. Argument: a
// folder to write into.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "eval/measure.h"
#include "objective/catalogue.h"
#include "optim/catalogue.h"
#include "sampling/catalogue.h"
#include "support/tiny_model.h"
#include "tensor/core/allocator.h"
#include "tensor/core/parallel.h"
#include "train/run/training_run.h"
#include "train/tiny_data.h"

namespace {

// Counts what it hands out; the C library does the work.
class CountingAllocator final : public tandem::tensor::Allocator {
 public:
  void* Allocate(size_t bytes) override {
    ++blocks_;
    return tandem::tensor::PlainAllocator().Allocate(bytes);
  }
  void Free(void* block, size_t bytes) noexcept override {
    tandem::tensor::PlainAllocator().Free(block, bytes);
  }
  size_t blocks() const { return blocks_; }

 private:
  std::atomic<size_t> blocks_{0};
};

extern "C" void OwnHandler(int) {}

bool HandlersAreOwn() {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler != OwnHandler) return false;
  }
  return true;
}

// Points a descriptor at a file while it lives.
class Redirected {
 public:
  Redirected(int descriptor, const std::filesystem::path& path)
      : descriptor_(descriptor), before_(::dup(descriptor)) {
    const int file = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    ::dup2(file, descriptor_);
    ::close(file);
  }
  ~Redirected() {
    std::fflush(nullptr);
    ::dup2(before_, descriptor_);
    ::close(before_);
  }

 private:
  int descriptor_;
  int before_;
};

// Documents are cut at 4 tokens, of which the library has to tell.
constexpr const char* kRecipe = R"(
threads = 2
precision = "fp32"
[model]
base = "{0}/base"
max_document_tokens = 4
[data]
train = "{0}/data"
[objective]
name = "infonce"
[optimizer]
learning_rate = 1e-3
[train]
batch = 8
steps = 4
[validation]
data = "{0}/data"
split = "dev"
every = "2 steps"
)";

// What the recipe may name entries of.
std::span<const tandem::config::Catalogue> Catalogues() {
  static const std::vector<tandem::config::Catalogue> all = {
      tandem::sampling::SamplerCatalogue(), tandem::objective::ObjectiveCatalogue(),
      tandem::optim::OptimizerCatalogue(), tandem::optim::ScheduleCatalogue(),
      tandem::eval::MeasureCatalogue()};
  return all;
}

void Train(const std::filesystem::path& folder, const std::string& output, bool* own_handlers) {
  const std::string text = fmt::format(kRecipe, folder.native());
  tandem::config::LoadedRecipe recipe =
      tandem::config::ParseRecipe(text, "recipe", {}, Catalogues());
  tandem::train::RunTraining(std::move(recipe), {.output = folder / output, .stop = [&] {
                                                   *own_handlers &= HandlersAreOwn();
                                                   return 0;
                                                 }});
}

class Messages final : public tandem::MessageSink {
 public:
  void Note(std::string_view message) override { text_.append(message).append("\n"); }
  void Warn(std::string_view message) override { Note(message); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

int failures = 0;

void Check(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "not kept: %s\n", what);
}

}  // namespace

int main(int, char** arguments) {
  const std::filesystem::path folder = std::filesystem::absolute(arguments[1]);
  tandem::WriteTinyModel(folder / "base");
  tandem::WriteTinyData(folder / "data", tandem::TinyWords());

  static CountingAllocator allocator;
  tandem::tensor::SetAllocator(allocator);
  tandem::tensor::SetThreadCount(1);
  std::signal(SIGINT, OwnHandler);
  std::signal(SIGTERM, OwnHandler);

  bool own_handlers = true;
  {
    const Redirected out(STDOUT_FILENO, folder / "stdout");
    const Redirected err(STDERR_FILENO, folder / "stderr");
    Train(folder, "silent", &own_handlers);
  }
  Check(&tandem::tensor::CurrentAllocator() == &allocator, "the allocator of tensors");
  Check(allocator.blocks() > 100, "the use of that allocator");
  Check(tandem::tensor::ThreadCount() == 1, "the thread count");
  Check(own_handlers, "the signal handlers while a run goes on");
  Check(HandlersAreOwn(), "the signal handlers after a run");
  Check(std::filesystem::file_size(folder / "stdout") == 0, "an empty stdout");
  Check(std::filesystem::file_size(folder / "stderr") == 0, "an empty stderr");

  Messages messages;
  tandem::SetMessageSink(&messages);
  Train(folder, "heard", &own_handlers);
  tandem::SetMessageSink(nullptr);
  Check(messages.text().find("longer than 4 tokens") != std::string::npos,
        "what the library has to tell");
  std::printf("%zu blocks of the program's own allocator\n", allocator.blocks());
  return failures == 0 ? 0 : 1;
}
