// The work of `tandem pairs --corpus-only`.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files/atomic_folder.h"
#include "base/files/files.h"
#include "base/json/json.h"
#include "base/log.h"
#include "cli/output_style.h"
#include "commands/pairs/document_tokens.h"
#include "commands/pairs/pairs_command.h"
#include "commands/pairs/pairs_output.h"
#include "data/formats/beir_lines.h"
#include "documents/reading/document_source.h"
#include "report/tables/one_line.h"

namespace tandem::app {
namespace {

struct CorpusCounts {
  size_t documents = 0;     // that were read
  size_t empty = 0;         // left out: neither title nor text
  size_t lines = 0;         // documents or passages that were written
  size_t cut = 0;           // documents of more than one passage
  size_t short_titles = 0;  // documents whose title was cut
  size_t front_matter = 0;
};

// Writes lines of a corpus, or shows the first of them.
class CorpusLines {
 public:
  explicit CorpusLines(const PairsOptions& options) {
    if (options.dry_run) return;
    folder_.emplace(options.output);
    file_.emplace(folder_->staging() / "corpus.jsonl");
  }

  void Add(std::string_view id, std::string_view title, std::string_view text) {
    if (file_) {
      line_.clear();
      data::AppendBeirDocument(line_, id, title, text);
      file_->Write(line_);
    } else if (examples_.size() < kShownExamples) {
      examples_.push_back({{"document", id}, {"title", title}, {"text", text}});
      shown_ += ExampleText(id, title, text);
    }
  }

  void Finish() {
    if (!file_) return;
    file_->Commit();
    folder_->Commit();
  }

  const std::string& shown() const { return shown_; }
  const Json& examples() const { return examples_; }

 private:
  static std::string ExampleText(std::string_view id, std::string_view title,
                                 std::string_view text) {
    const size_t columns = OutputStyle().columns;
    return fmt::format("{}\n    {}\n", report::OneLine(fmt::format("{}: {}", id, title), columns),
                       report::OneLine(text, std::max<size_t>(columns, 24) - 4));
  }

  std::optional<AtomicFolder> folder_;
  std::optional<AtomicFile> file_;
  std::string line_, shown_;
  Json examples_ = Json::array();
};

void AddDocument(const documents::Document& document, const documents::PassageCutter* cutter,
                 CorpusLines* lines, CorpusCounts* counts) {
  ++counts->documents;
  counts->front_matter += document.front_matter;
  const documents::Span all = documents::Trimmed(document.text, {0, document.text.size()});
  if (all.empty() && document.title.empty()) {
    ++counts->empty;
    return;
  }
  if (cutter == nullptr) {
    ++counts->lines;
    return lines->Add(document.id, document.title, document.text);
  }
  const std::string title = cutter->TitleOf(document);
  counts->short_titles += title != document.title;
  size_t number = 0;
  for (const documents::Passage& passage : cutter->Cut(document)) {
    const documents::Span span = documents::Trimmed(document.text, passage.span);
    if (span.empty() && !all.empty()) continue;
    lines->Add(fmt::format("{}#{}", document.id, ++number), title, document.Of(span));
  }
  counts->lines += number;
  counts->cut += number > 1;
}

std::string CountsText(const CorpusCounts& counts, bool passages) {
  std::string text = passages
                         ? fmt::format("{} documents: {} passages, of {} documents more than one",
                                       counts.documents, counts.lines, counts.cut)
                         : fmt::format("{} documents", counts.lines);
  if (counts.empty > 0) {
    text += fmt::format("; without title and text, left out: {}", counts.empty);
  }
  if (counts.short_titles > 0) {
    text +=
        fmt::format("; titles of more than a quarter of a passage, cut: {}", counts.short_titles);
  }
  return text + "\n";
}

std::string CountsJson(const CorpusCounts& counts, const Json& examples) {
  return report::JsonText({{"documents", counts.documents},
                           {"empty", counts.empty},
                           {"lines", counts.lines},
                           {"cut", counts.cut},
                           {"short_titles", counts.short_titles},
                           {"examples", examples}});
}

}  // namespace

void RunCorpusOnly(const PairsOptions& options) {
  std::optional<documents::PassageCutter> cutter;
  if (options.passage_tokens) cutter.emplace(CutterFor(options));
  const auto source =
      documents::OpenDocuments(options.documents, std::filesystem::temp_directory_path());
  CorpusLines lines(options);
  CorpusCounts counts;
  documents::Document document;
  while (source->Next(&document)) {
    AddDocument(document, cutter ? &*cutter : nullptr, &lines, &counts);
  }
  if (const std::string left_out = source->left_out(); !left_out.empty()) Note(left_out);
  if (counts.front_matter > 0) {
    Note(fmt::format("front matter, of which only the title is read: in {} files",
                     counts.front_matter));
  }
  if (counts.lines == 0) {
    throw DataError(
        options.documents, 0, "",
        fmt::format("none of its {} documents has a title or a text", counts.documents));
  }
  lines.Finish();
  std::cout << (options.format == "json" ? CountsJson(counts, lines.examples())
                                         : CountsText(counts, cutter.has_value()) + lines.shown());
  if (!options.dry_run) Note(fmt::format("wrote {}/corpus.jsonl", options.output));
}

}  // namespace tandem::app
