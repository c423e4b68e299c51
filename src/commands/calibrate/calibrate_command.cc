#include "commands/calibrate/calibrate_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/process/short_waits.h"
#include "weights/settings/guarantee.h"

namespace tandem::app {
namespace {

// Checks what belongs to promises only.
std::vector<eval::Promise> PromisesOf(const CalibrateOptions& options) {
  std::vector<eval::Promise> promises;
  bool no_answer = false, precision = false;
  for (const std::string& text : options.guarantees) {
    for (const eval::Promise& promise : eval::ParsePromises(text)) {
      if (std::find(promises.begin(), promises.end(), promise) != promises.end()) {
        throw UsageError(fmt::format("--guarantee {} is given twice", promise.Name()));
      }
      no_answer = no_answer || promise.kind == eval::PromiseKind::kNoAnswer;
      precision = precision || promise.kind == eval::PromiseKind::kPrecision;
      promises.push_back(promise);
    }
  }
  const auto need = [](bool given, std::string_view flag, bool there, std::string_view what) {
    if (given && !there) throw UsageError(fmt::format("{} needs --guarantee {}", flag, what));
  };
  need(!options.unanswerable.empty(), "--unanswerable", no_answer, "no-answer=SHARE");
  need(options.judged_only, "--judged-only", precision, "precision=SHARE");
  need(!options.by.empty(), "--by", !promises.empty(), "PROMISE");
  if (no_answer && options.unanswerable.empty()) {
    throw UsageError(
        "--guarantee no-answer needs queries that have no answer: give --unanswerable FILE, or "
        "--unanswerable held-out for the judged queries without their own positives");
  }
  if (!promises.empty() && options.method) {
    throw UsageError("--method is of probabilities; --guarantee excludes it");
  }
  return promises;
}

void RunCheckedCalibrate(const CalibrateOptions& options) {
  if (!(options.relevance_level > 0) || !std::isfinite(options.relevance_level)) {
    throw UsageError(
        fmt::format("--relevance-level is {}; expected a number above 0", options.relevance_level));
  }
  const std::vector<eval::Promise> promises = PromisesOf(options);
  WaitBriefly();
  promises.empty() ? RunCalibrate(options) : RunCalibrateGuarantee(options, promises);
}

void AddGuaranteeFlags(Flags& flags, CalibrateOptions& options) {
  flags
      .Add("--guarantee", options.guarantees,
           "Promise this of later queries, in place of fitting a probability: recall=0.9, "
           "precision=0.9@0.95 (with 95 % confidence) or no-answer=0.05; several may be given, or "
           "with commas")
      .OneValueEachTime();
  flags.Add(
      "--unanswerable", options.unanswerable,
      "Queries without an answer, for no-answer: a file of JSON lines {\"_id\", \"text\"}, or "
      "held-out: the judged queries without their own positives");
  flags.Add("--by", options.by,
            "Make each promise for every group of queries by itself: those with the same value of "
            "this field of queries.jsonl, or of its object metadata");
  flags.AddSwitch(
      "--judged-only", options.judged_only,
      "For precision: leave out documents that nobody judged, which else count as wrong");
}

CommandBody ConfigureCalibrate(Flags& flags) {
  const auto options = std::make_shared<CalibrateOptions>();
  flags
      .Add("model", options->model.model,
           "Model folder; its tandem.json gets the probability, nothing else changes")
      .Required();
  flags.Add("--dataset", options->dataset, "BEIR folder with judgements to fit to").Required();
  flags.Add("--split", options->split, "Split of the data set; not the one that you evaluate on")
      .ShowDefault();
  flags
      .Add("--method", options->method,
           "objective: what bixse learned; platt: a logistic curve; isotonic: any rising one")
      .OneOf({"objective", "platt", "isotonic"})
      .ShowDefault("objective where one learned it, else platt");
  flags
      .Add("--relevance-level", options->relevance_level,
           "Grade from which a document is a positive; documents that nobody judged are none")
      .ShowDefault();
  flags
      .Add("--depth", options->depth,
           "Fit to each query's best N documents alone, for probabilities of what stands first: 1 "
           "for the first hit (default: all samples, the positives and the best 500 others); of a "
           "guarantee: show no more than N")
      .Between(1, static_cast<int64_t>(weights::kMostGuaranteeDepth));
  AddGuaranteeFlags(flags, *options);
  flags.AddSwitch("--dry-run", options->dry_run, "Measure, but leave the folder as it is");
  AddEmbeddingsFlag(flags, options->embeddings);
  AddCacheFlag(flags, options->no_cache);
  flags.Add("--format", options->format, "text, tsv or json")
      .OneOf({"text", "tsv", "json"})
      .ShowDefault();
  return [options](const Globals& globals) {
    options->globals = globals;
    RunCheckedCalibrate(*options);
  };
}

constexpr Example kCalibrateExamples[] = {
    {"tandem calibrate runs/mine/model --dataset data/mine --split dev",
     "Fit a logistic curve, and keep it in the model's folder"},
    {"tandem calibrate runs/mine/model --dataset data/mine --split dev --method isotonic",
     "Fit any rising curve"},
    {"tandem calibrate runs/mine/model --dataset data/mine --split dev --guarantee recall=0.9",
     "Find the threshold that keeps 90 % of what is relevant, on average over later queries"},
};

}  // namespace

extern const Command kCalibrateCommand{
    {.name = "calibrate",
     .summary = "Fit how scores become probabilities, or promise recall or precision"},
    ConfigureCalibrate,
    kCalibrateExamples};

}  // namespace tandem::app
