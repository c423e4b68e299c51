// The prediction head of an encoder's classifiers as pooler (`model.head = true`).
#pragma once

#include "weights/folders/model_folder.h"

namespace tandem::weights {

// The names of the two modules.
inline constexpr const char* kHeadDenseFolder = "head.dense";
inline constexpr const char* kHeadNormFolder = "head.norm";

// Puts the prediction head of the encoder's task models (ModernBERT's: those for masked language
// modelling and for classification have the same) after the folder's pooling, as a Dense module [H,
// H] and a LayerNorm module, which start at the folder's tensors; a norm without a bias there
// starts at 0. A plain folder is pooled as config.json's `classifier_pooling` says; a Note says so
// where that is not the mean. A folder with modules.json keeps its pooling.
//
// Does nothing, with a Note, for a folder that has the head as modules already. Throws UsageError
// for an encoder without such a head (naming those with one) and for a folder with other modules
// that have parameters; ModelError where the weights lack the head, where its tensors have other
// shapes than config.json asks for, and for what the modules of sentence-transformers cannot
// express: another epsilon than 1e-5, GELU by tanh.
void AddPredictionHead(ModelFolder* folder);

}  // namespace tandem::weights
