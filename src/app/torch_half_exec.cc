// Defines the tensor commands for the torch-free program: each one starts tandem-torch instead.
#include "app/torch_half.h"

namespace tandem::app {

void RunEncode(const EncodeCommandOptions&) { ReplaceByTorchHalf(); }
void RunEvaluateModel(const EvaluateOptions&) { ReplaceByTorchHalf(); }
void RunLoss(const LossOptions&) { ReplaceByTorchHalf(); }
void RunSearch(const SearchOptions&) { ReplaceByTorchHalf(); }
void RunTrain(const TrainOptions&) { ReplaceByTorchHalf(); }

}  // namespace tandem::app
