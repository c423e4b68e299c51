// Tells a person about texts of a run's inputs that are left out or cut.
#pragma once

#include "train/setup/run_inputs.h"

namespace tandem::train {

// Notes how many documents of training queries are neither positives nor negatives because of their
// grades.
void NoteBetween(const RunInputs& inputs);

// Notes how many training queries have their own text as a document of the corpus.
void NoteOwnTexts(const RunInputs& inputs);

// Notes texts that are longer than the recipe says, and warns of those that are longer than the
// model takes where it says nothing, and of those that are empty, or nothing but their prompt.
void WarnOfCutTexts(const RunInputs& inputs);

}  // namespace tandem::train
