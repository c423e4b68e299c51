// Documents of an index as lines of text that other programs load.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/texts/metadata.h"
#include "index/export/live_documents.h"

namespace tandem::index {

// The columns of lines besides id and embedding.
struct LineColumns {
  std::vector<data::MetadataField> fields;
  bool texts = false;  // a column `text` before the fields
};

// Throws UsageError for a field that is called as another column is.
void CheckColumns(const LineColumns& columns);

// Appends {"id": …, "embedding": […], "text": …, FIELD: …} and a line end; fields that the document
// lacks are null. Numbers are the shortest that are read back as the same float32 (embedding) or
// double.
void AppendJsonLine(const LiveDocument& document, const LineColumns& columns, std::string& out);

// Appends a row as PostgreSQL's COPY reads it in its text format (documentation of COPY, "Text
// Format"): id, embedding as pgvector writes a vector ("[0.5,-1]"), text and fields between tabs,
// backslashes and control characters escaped, \N for what the document lacks. Throws DataError,
// which names the index and the id, for a zero byte, which no text of PostgreSQL has.
void AppendCopyLine(const LiveDocument& document, const LineColumns& columns,
                    std::string_view index, std::string& out);

// The columns of such rows as CREATE TABLE takes them: "id text PRIMARY KEY, embedding vector(384),
// \"year\" double precision".
std::string CopyTableColumns(const LineColumns& columns, size_t width);

// "\copy documents FROM 'FILE' (ENCODING utf8)", as psql takes it. Without the encoding, psql takes
// the rows to be in the one of its terminal or database, and a Latin-1 takes any bytes.
std::string CopyFromFile(std::string_view file);

}  // namespace tandem::index
