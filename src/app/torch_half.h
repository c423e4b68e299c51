// The seam between the two halves of the program.
//
// `tandem` holds everything that needs no tensors and starts in milliseconds; `tandem-torch` holds
// everything, links libtorch (285 libraries, half a second) and is started in place of `tandem`
// by the commands that need it. Both programs compile the same command files; they differ in which
// source defines the functions below: torch_half_exec.cc (replace this process by tandem-torch with
// the same arguments) or NAME_run.cc (do the work).
#pragma once

namespace tandem::app {

// Each command that needs tensors declares its options struct and its Run function here. Run calls
// tensor::SetUpProcess before the first tensor.
struct EncodeCommandOptions;  // app/encode_command.h
void RunEncode(const EncodeCommandOptions& options);

struct SearchOptions;  // app/search_command.h
void RunSearch(const SearchOptions& options);

struct LossOptions;
void RunLoss(const LossOptions& options);

struct EvaluateOptions;  // app/evaluate_command.h
// `tandem evaluate --model`: scores every judged query of the data set's split against its corpus,
// evaluates, and prints with PrintEvaluation. The options are checked.
void RunEvaluateModel(const EvaluateOptions& options);

struct TrainOptions;  // app/train_command.h
void RunTrain(const TrainOptions& options);

// Called by torch_half_exec.cc: never returns. Throws UsageError when this build has no torch half.
[[noreturn]] void ReplaceByTorchHalf();

// The arguments that main was called with.
void RememberArguments(int argc, char** argv);

}  // namespace tandem::app
