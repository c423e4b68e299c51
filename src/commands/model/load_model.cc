#include "commands/model/load_model.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/log.h"
#include "cli/process/job.h"
#include "cli/process/signal_watch.h"
#include "commands/model/asked_precision.h"
#include "commands/model/precision_advice.h"
#include "report/records/run_log.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/device.h"
#include "tensor/machine/precision.h"
#include "tensor/machine/process.h"
#include "weights/settings/prompt_choice.h"

namespace tandem::app {

model::LoadOptions LoadOptionsOf(const ModelFlags& flags, const std::string& query_prompt) {
  model::LoadOptions options{.max_query_tokens = flags.max_query_tokens,
                             .max_document_tokens = flags.max_document_tokens,
                             .training = {.what = model::Trained::kNothing}};
  if (!query_prompt.empty()) options.query_prompt = query_prompt;
  (flags.prompts_documents ? options.chosen_document_prompt : options.chosen_query_prompt) =
      flags.prompt;
  options.dimensions = flags.dimensions;
  return options;
}

tensor::Device CommandDevice(const Globals& globals) {
  const std::string& name = globals.device;
  return tensor::UseDevice(name.empty() ? "cpu" : name);
}

namespace {

// Says that a run has saved its base model: nobody would see it by the numbers alone.
void NoteIfBase(const std::string& model) {
  const std::filesystem::path path = std::filesystem::absolute(model).lexically_normal();
  const std::filesystem::path folder = path.has_filename() ? path : path.parent_path();
  if (folder.filename() != "model") return;
  const auto finished = report::ReadRunLog(folder.parent_path() / "metrics.jsonl").finished;
  if (!finished || finished->model_step > 0) return;
  Note(fmt::format("{} is the base model as it was before training: no step of its run was better",
                   model));
}

}  // namespace

std::unique_ptr<model::DualEncoder> LoadModel(const Globals& globals, const ModelFlags& flags,
                                              const std::string& query_prompt) {
  tensor::SetUpProcess(globals.threads);
  auto model = model::DualEncoder::Load(flags.model, LoadOptionsOf(flags, query_prompt));
  model->To(CommandDevice(globals));
  NoteIfBase(flags.model);
  if (flags.prompt) {
    const auto kind =
        flags.prompts_documents ? model::TextKind::kDocument : model::TextKind::kQuery;
    Note(fmt::format("the prompt of {} is \"{}\"",
                     flags.prompts_documents ? "documents" : "queries",
                     weights::PromptOnOneLine(model->prompt(kind))));
  }
  return model;
}

std::string FolderName(const std::string& folder) {
  std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
  if (path.filename().empty()) path = path.parent_path();
  return path.filename().native();
}

search::EncodeOptions BulkOptions(const Globals& globals) {
  const AskedPrecision asked = AskedPrecisionOf(globals);
  const tensor::Device device = CommandDevice(globals);
  const tensor::Precision precision = asked.name.empty()
                                          ? tensor::ResolvePrecision("fp32", device)
                                          : ResolveAsked(asked, [device](std::string_view name) {
                                              return tensor::ResolvePrecision(name, device);
                                            });
  tensor::ApplyPrecision(precision);
  search::EncodeOptions options{
      .precision = precision,
      .threads = ThreadsOf(globals),
      .stop = dist::IsShared(CurrentGroup()) ? StopRequest() : StopRequest(SignalWatch::Received),
      .window_share = SignalWatch::DoneOfPart,
      .group = CurrentGroup(),
      .compare_inputs = true};
  if (asked.name.empty() && device.is_cpu() && !globals.quiet) options.before = PrecisionAdvice();
  return options;
}

}  // namespace tandem::app
