// `tandem index export`: writes the documents of an index for other programs.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/files/files.h"
#include "base/log.h"
#include "base/progress.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/globals.h"
#include "index/export/document_lines.h"
#include "index/export/faiss_file.h"
#include "index/export/live_documents.h"
#include "index/folder/manifest.h"
#include "index/segments/segment.h"

namespace tandem::app {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
  Globals globals;
  std::string index;
  std::string output;  // a file; "-": standard output
  std::string to;
  bool with_texts = false;
  bool force = false;
};

// "mine.ids.txt" beside "mine.faiss".
fs::path IdsPathOf(const fs::path& output) {
  fs::path ids = output;
  return ids.replace_extension(".ids.txt");
}

void CheckNew(const fs::path& path, bool force) {
  if (force || !fs::exists(path)) return;
  throw UsageError(fmt::format("{} is there already; --force replaces it", path.native()));
}

void CheckExport(const ExportOptions& options) {
  if (options.to == "parquet") {
    throw UsageError(
        "--to is parquet, which the tandem of the Python package writes (into a file called "
        "NAME.parquet, docs/parquet.md), and this program does not; expected faiss, jsonl or "
        "pgvector");
  }
  if (options.to == "faiss") {
    if (options.output == "-") {
      throw UsageError("--to faiss writes two files; expected --output FILE, found -");
    }
    if (options.with_texts) {
      throw UsageError("--with-texts is for --to jsonl and pgvector; FAISS keeps vectors alone");
    }
    CheckNew(IdsPathOf(options.output), options.force);
  }
  if (options.output != "-") CheckNew(options.output, options.force);
}

// Calls `body` for each document, and shows how many there were.
void ForExported(const ExportOptions& options, const index::Manifest& manifest,
                 const std::function<void(const index::LiveDocument&)>& body) {
  constexpr uint64_t kBetweenUpdates = 4096;
  Progress progress(
      {.label = "export", .unit = "documents", .total = manifest.rows() - manifest.removed()});
  uint64_t done = 0;
  index::ForLiveDocuments(options.index, manifest, [&](const index::LiveDocument& document) {
    body(document);
    if (++done % kBetweenUpdates == 0) progress.Update(done);
  });
}

void ExportFaiss(const ExportOptions& options, const index::Manifest& manifest) {
  index::FaissFlatFile vectors(options.output, manifest.rows() - manifest.removed(),
                               manifest.model.width);
  const fs::path ids_path = IdsPathOf(options.output);
  AtomicFile ids(ids_path);
  ForExported(options, manifest, [&](const index::LiveDocument& document) {
    if (document.id.find_first_of("\r\n") != document.id.npos) {
      throw DataError(options.index, 0, std::string(document.id),
                      "its id has a line end, and ids are written one a line; take --to jsonl");
    }
    vectors.Write(document.vector);
    ids.Write(document.id);
    ids.Write("\n");
  });
  ids.Commit();
  vectors.Commit();
  Note(fmt::format("the id of row i is line i, from 0, of {}; scores are {}", ids_path.native(),
                   manifest.model.similarity == "cosine" ? "cosines" : "dot products"));
}

void WriteExport(std::string_view bytes, AtomicFile* file) {
  if (file != nullptr) return file->Write(bytes);
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return;
  throw OutputError("standard output", "cannot be written", errno);
}

void ExportLines(const ExportOptions& options, const index::Manifest& manifest) {
  const index::LineColumns columns{manifest.fields, options.with_texts};
  index::CheckColumns(columns);
  if (options.with_texts && !manifest.texts) {
    throw UsageError(fmt::format("--with-texts: {} keeps no texts", options.index));
  }
  const bool copy = options.to == "pgvector";
  std::unique_ptr<AtomicFile> file;
  if (options.output != "-") file = std::make_unique<AtomicFile>(options.output);
  std::string line;
  ForExported(options, manifest, [&](const index::LiveDocument& document) {
    line.clear();
    copy ? index::AppendCopyLine(document, columns, options.index, line)
         : index::AppendJsonLine(document, columns, line);
    WriteExport(line, file.get());
  });
  if (file != nullptr) {
    file->Commit();
  } else if (std::fflush(stdout) != 0) {
    throw OutputError("standard output", "cannot be written", errno);
  }
  if (!copy) return;
  Note(fmt::format("CREATE TABLE documents ({}); {}",
                   index::CopyTableColumns(columns, manifest.model.width),
                   index::CopyFromFile(options.output == "-" ? "FILE" : options.output)));
}

void RunExport(const ExportOptions& options) {
  const index::Manifest manifest = index::ReadManifest(options.index);
  index::CheckAllFiles(options.index, manifest, true, ThreadsOf(options.globals));
  options.to == "faiss" ? ExportFaiss(options, manifest) : ExportLines(options, manifest);
  Note(fmt::format("{} documents -> {}", manifest.rows() - manifest.removed(),
                   options.output == "-" ? "standard output" : options.output));
}

CommandBody ConfigureExport(Flags& flags) {
  const auto options = std::make_shared<ExportOptions>();
  flags.Add("index", options->index, "Index, a folder").Required();
  flags.Add("--output", options->output, "File to write; - for standard output (jsonl, pgvector)")
      .Required();
  flags
      .Add("--to", options->to,
           "faiss: a flat index by inner product, and the ids of its rows beside it; jsonl: a line "
           "{\"id\", \"embedding\", FIELD...} a document; pgvector: rows for PostgreSQL's COPY; "
           "parquet: by the tandem of the Python package")
      .OneOf({"faiss", "jsonl", "parquet", "pgvector"})
      .Required();
  flags.AddSwitch("--with-texts", options->with_texts,
                  "A column with the documents' texts, too (jsonl, parquet, pgvector)");
  flags.AddSwitch("--force", options->force, "Replace files that are there");
  return [options](const Globals& globals) {
    options->globals = globals;
    CheckExport(*options);
    RunExport(*options);
  };
}

constexpr Example kExportExamples[] = {
    {"tandem index export mine.index --to faiss --output mine.faiss",
     "Let faiss.read_index open it; mine.ids.txt has the ids"},
    {"tandem index export mine.index --to pgvector --output - | psql -c 'COPY documents FROM "
     "STDIN (ENCODING utf8)'",
     "Load the documents into a table with a column of pgvector's"},
};

}  // namespace

extern const Command kIndexExportCommand{
    {.name = "export", .summary = "Write an index's documents for FAISS, PostgreSQL and others"},
    ConfigureExport,
    kExportExamples};

}  // namespace tandem::app
