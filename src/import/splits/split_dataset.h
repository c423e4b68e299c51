// Splits of a data set in memory.
#pragma once

#include "data/dataset.h"
#include "data/write_dataset.h"
#include "import/splits/holdout.h"

namespace tandem::import_data {

// Holds queries of `dataset` out (HoldOut): those with a grade above 0 count. Sets what
// data::WriteDataset asks for the split of a query, and for the judgements that are left out: in
// train, grade 0 of a document that is relevant to a held-out query, unless splits may share
// documents. `options` must not outlive `dataset`. Throws what HoldOut throws.
Holdout SplitDataset(const data::Dataset& dataset, const HoldoutOptions& holdout,
                     data::WriteOptions* options);

}  // namespace tandem::import_data
