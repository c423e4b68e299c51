#include "commands/index/index_command.h"

#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/process/short_waits.h"
#include "data/input/line_reader.h"
#include "data/warnings.h"
#include "index/folder/removal.h"

namespace tandem::app {

extern const Command kIndexBuildCommand;
extern const Command kIndexExportCommand;
extern const Command kIndexInfoCommand;

namespace {

// --- add -----------------------------------------------------------------------------------------

CommandBody ConfigureAdd(Flags& flags) {
  const auto options = std::make_shared<IndexAddCommandOptions>();
  flags.Add("index", options->index, "Index, a folder").Required();
  AddDocumentsArgument(flags, options->documents);
  AddTextInputFlags(flags, options->input);
  flags.AddSwitch("--update", options->update,
                  "A document whose id is there takes the place of that one");
  AddDocumentCacheFlag(flags, options->no_cache);
  flags.Add("--model", options->model, "Where the index's model is now (default: where it was)");
  flags.Add("--memory", options->memory, "For work, besides what the kind itself holds")
      .ShowDefault();
  return [options](const Globals& globals) {
    options->globals = globals;
    MemoryOf(options->memory);
    WaitBriefly();
    RunIndexAdd(*options);
  };
}

constexpr Example kAddExamples[] = {
    {"tandem index add mine.index new.jsonl", "Add documents; each id must be new"},
    {"tandem index add mine.index changed.jsonl --update",
     "Let documents whose ids are there take their places"},
};

const Command kIndexAddCommand{
    {.name = "add", .summary = "Add documents to an index"}, ConfigureAdd, kAddExamples};

// --- remove --------------------------------------------------------------------------------------

struct RemoveOptions {
  std::string index;
  std::vector<std::string> ids;
  std::string ids_file;
  bool ignore_missing = false;
};

std::vector<std::string> LinesOf(const std::string& path) {
  std::vector<std::string> lines;
  data::Warnings warnings;
  data::LineReader reader(path, warnings);
  for (std::string_view line; reader.Next(&line);) lines.emplace_back(line);
  warnings.Report();
  return lines;
}

void RunRemove(const RemoveOptions& options) {
  std::vector<std::string> ids = options.ids;
  if (!options.ids_file.empty()) {
    const std::vector<std::string> more = LinesOf(options.ids_file);
    ids.insert(ids.end(), more.begin(), more.end());
  }
  if (ids.empty()) throw UsageError("no ids are given: --id ID, or --ids FILE with one a line");
  const index::RemoveReport report =
      index::RemoveDocuments(options.index, ids, options.ignore_missing);
  if (report.missing > 0) Warn(fmt::format("{} ids are no document's", report.missing));
  Note(fmt::format("{} documents removed from {}", report.removed, options.index));
}

CommandBody ConfigureRemove(Flags& flags) {
  const auto options = std::make_shared<RemoveOptions>();
  flags.Add("index", options->index, "Index, a folder").Required();
  flags.Add("--id", options->ids, "Id of a document; may be given several times")
      .OneValueEachTime();
  flags.Add("--ids", options->ids_file,
            "File with an id on each line, also .gz; - for standard input");
  flags.AddSwitch("--ignore-missing", options->ignore_missing,
                  "Ids that are no document's are counted; without it they are an error, and "
                  "nothing is removed");
  return [options](const Globals&) { RunRemove(*options); };
}

constexpr Example kRemoveExamples[] = {
    {"tandem index remove mine.index --id d17 --id d18", "Remove two documents"},
    {"tandem index remove mine.index --ids gone.txt --ignore-missing",
     "Remove those of a list, whether they are there or not"},
};

const Command kIndexRemoveCommand{
    {.name = "remove", .summary = "Remove documents from an index, by id"},
    ConfigureRemove,
    kRemoveExamples};

// --- compact -------------------------------------------------------------------------------------

CommandBody ConfigureCompact(Flags& flags) {
  const auto options = std::make_shared<IndexCompactCommandOptions>();
  flags.Add("index", options->index, "Index, a folder").Required();
  flags.Add("--memory", options->memory, "For work, besides what the kind itself holds")
      .ShowDefault();
  return [options](const Globals& globals) {
    options->globals = globals;
    MemoryOf(options->memory);
    WaitBriefly();
    RunIndexCompact(*options);
  };
}

constexpr Example kCompactExamples[] = {
    {"tandem index compact mine.index", "Make one segment of all"},
    {"tandem index compact mine.index --memory 8GiB", "Take more memory, and less time"},
};

const Command kIndexCompactCommand{
    {.name = "compact", .summary = "Make one segment of all, without what has been removed"},
    ConfigureCompact,
    kCompactExamples};

constexpr Example kIndexExamples[] = {
    {"tandem index build runs/mine/model data/mine/corpus.jsonl --output mine.index",
     "Encode documents and index them"},
    {"tandem index add mine.index new.jsonl --update", "Add documents, and new texts of old ones"},
};

std::span<const Command* const> Parts() {
  static constexpr const Command* kParts[] = {&kIndexBuildCommand,  &kIndexAddCommand,
                                              &kIndexRemoveCommand, &kIndexCompactCommand,
                                              &kIndexExportCommand, &kIndexInfoCommand};
  return kParts;
}

}  // namespace

extern const Command kIndexCommand{
    {.name = "index", .summary = "Build an index of documents, and change it"},
    nullptr,
    kIndexExamples,
    Parts};

}  // namespace tandem::app
