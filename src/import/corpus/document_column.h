// Finds the column that names documents of a corpus by what it holds.
#pragma once

#include <string_view>

#include "import/columns/column_choice.h"
#include "import/corpus/corpus_documents.h"
#include "import/row_source.h"

namespace tandem::import_data {

// Columns of a source whose first rows are `rows`, for FindColumns: `chosen`, and where no document
// was chosen, the column whose values are documents of the corpus more often than those of others.
// Columns of titles and of documents' ids have no meaning beside a corpus, and are none. Where no
// column has a value that the corpus knows, names decide. Throws UsageError naming `file` where two
// columns have as many.
Columns WithDocumentColumn(RowSource& rows, Columns chosen, const CorpusDocuments& corpus,
                           std::string_view file);

}  // namespace tandem::import_data
