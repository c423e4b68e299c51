// The work of `tandem pairs`, but --corpus-only.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/files/cache_folder.h"
#include "base/log.h"
#include "cli/output_style.h"
#include "commands/model/load_model.h"
#include "commands/pairs/document_tokens.h"
#include "commands/pairs/pairs_command.h"
#include "commands/pairs/pairs_output.h"
#include "data/write_dataset.h"
#include "documents/pairing/pair_collector.h"
#include "documents/reading/document_source.h"
#include "search/retrieval/retrieve.h"

namespace tandem::app {
namespace {

// Says for each pair whether the model finds its text within the depth.
std::vector<bool> FoundByModel(const PairsOptions& options, const documents::PairSet& set) {
  const auto model = LoadModel(options.globals, options.model);
  const data::Dataset dataset = documents::DatasetOf(set);
  const search::Retrieved retrieved =
      search::Retrieve(*model, dataset,
                       {.top_k = *options.round_trip,
                        .encode = BulkOptions(options.globals),
                        .cache = options.no_cache ? std::filesystem::path() : CacheFolder()});
  std::vector<bool> found;
  for (size_t q = 0; q < dataset.judged.size(); ++q) {
    std::unordered_set<std::string_view> best;
    for (const auto& result : retrieved.run.queries()[q].results) best.insert(result.document);
    for (const data::Judgement& judgement : dataset.judged[q].judgements) {
      found.push_back(best.contains(dataset.documents.id(judgement.document)));
    }
  }
  return found;
}

documents::PairSet Collect(const PairsOptions& options) {
  std::optional<documents::PassageCutter> cutter;
  if (options.passage_tokens) cutter.emplace(CutterFor(options));
  const auto source =
      documents::OpenDocuments(options.documents, std::filesystem::temp_directory_path());
  documents::PairRules rules{.sources = options.sources,
                             .per_document = options.per_document,
                             .seed = SeedOf(options.globals),
                             .links = source->has_links()};
  if (cutter) {
    rules.shorten = [&cutter](std::string text) {
      documents::Document document{.text = std::move(text)};
      document.blocks = documents::ParagraphsOf(document.text);
      const documents::Span first = cutter->Cut(document).front().span;
      return std::string(document.Of(documents::Trimmed(document.text, first)));
    };
  }
  documents::PairCollector collector(std::move(rules));
  documents::Document document;
  size_t front_matter = 0;
  while (source->Next(&document)) {
    front_matter += document.front_matter;
    collector.Add(document);
  }
  if (const std::string left_out = source->left_out(); !left_out.empty()) Note(left_out);
  if (front_matter > 0) {
    Note(fmt::format("front matter, of which only the title is read: in {} files", front_matter));
  }
  return collector.Finish();
}

}  // namespace

void RunPairs(const PairsOptions& options) {
  documents::PairSet set = Collect(options);
  CheckHasPairs(set);
  if (options.round_trip) {
    KeepPairs(FoundByModel(options, set), &set);
    CheckHasPairs(set);
  }
  if (!options.dry_run) {
    data::WriteDataset(documents::DatasetOf(set), "beir", options.output, {.split = "train"});
  }
  const std::vector<size_t> examples =
      DrawExamples(set, options.dry_run ? kShownExamples : 0, SeedOf(options.globals));
  std::cout << (options.format == "json" ? PairsJson(set, examples)
                                         : PairsText(set, examples, OutputStyle()));
  if (!options.dry_run) Note(fmt::format("wrote {}: pairs {}", options.output, set.pairs.size()));
}

}  // namespace tandem::app
