// What a run's inputs tell a person: texts that are left out or cut.
#pragma once

#include "train/setup/run_inputs.h"

namespace tandem::train {

// Documents of training queries that are neither positives nor negatives, by their grade.
void NoteBetween(const RunInputs& inputs);

// Documents that are the text of a training query.
void NoteOwnTexts(const RunInputs& inputs);

// Texts that are longer than the model takes, that are empty, or that are nothing but their prompt.
void WarnOfCutTexts(const RunInputs& inputs);

}  // namespace tandem::train
