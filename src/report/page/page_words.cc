// The terms that the page uses, each explained in a line at its end.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "eval/measure.h"
#include "report/page/page_parts.h"

namespace tandem::report {
namespace {

struct Term {
  std::string_view word;
  std::string_view explanation;
  // What of the page's markup shows that the page uses the term.
  std::string_view used;
};

constexpr Term kTerms[] = {
    {"positive", "a document that is judged right for a query; the others are non-positives",
     "ositives"},
    {"interval",
     "where a mean would probably lie for other queries of the same kind (95 % of them)",
     "bootstrap intervals"},
    {"p",
     "how often chance alone would give so large a difference: 0.30 is often, below 0.05 is called "
     "seen",
     " lost; p\u00a0"},
    {"gained, lost", "queries whose value rose, and whose value fell", " gained, "},
    {"pooled", "the scores of all queries taken together, as one threshold for all sees them",
     "pooled"},
    {"AUC",
     "the chance that a positive scores higher than another document; 1 is all, 0.5 is guessing",
     ">AUC<"},
    {"partial AUC", "AUC where few non-positives are let through, a tenth of them at most",
     ">Partial AUC<"},
    {"average precision", "the mean precision at each positive, all scores in one list",
     ">Average precision<"},
    {"ROC", "how many positives are found for each share of non-positives let through", ">ROC<"},
    {"precision, recall",
     "the share of what is shown that is right, and the share of what is right that is shown",
     ">Precision and recall<"},
    {"true-positive rate", "recall: the share of the positives that is found",
     "true-positive rate"},
    {"false-positive rate", "the share of the non-positives that is shown", "alse-positive rate"},
    {"threshold", "a score below which results are not shown, the same for all queries",
     ">Results a query<"},
    {"calibration", "making probabilities of scores: of results with 0.8, 80 % should be right",
     "id=\"figure-reliability\""},
    {"expected calibration error",
     "how far probabilities are from the truth, on average; 0 is best",
     ">Expected calibration error<"},
    {"Brier score, log loss",
     "errors of each probability: its squared distance from 0 or 1, and its logarithm; lower is "
     "better",
     ">Brier score<"},
    {"platt, isotonic, bixse",
     "ways to make probabilities: a curve of two numbers, steps that only rise, and what the "
     "objective bixse has learned",
     ">Brier score<"},
    {"centroid gap",
     "the distance between the mean query and the mean positive, 0 to 2; 0 is one region for both",
     ">Centroid gap<"},
    {"linear separability", "how often a plane tells queries from documents: 0.5 is mixed, 1 apart",
     ">Linear separability<"},
    {"median ratio",
     "how near another query is, over how near that query's document is; 1 is as near",
     ">Median ratio<"},
    {"uniformity", "how evenly embeddings fill their space; 0 is one point, -4 is spread out",
     ">Uniformity<"},
    {"alignment", "how far a query is from its positive; 0 is at the same place, 2 a right angle",
     ">Alignment<"},
    {"tower", "what makes embeddings of one kind of text, queries or documents", "towers"},
    {"step, epoch",
     "one change of the weights by a batch of queries, and one way through the training data",
     "id=\"figure-loss\""},
    {"loss", "what training makes small: how badly a batch is ranked", "id=\"figure-loss\""},
    {"learning rate", "how far a step moves the weights", "id=\"figure-learning-rate\""},
    {"validation",
     "measuring while training on data that is not trained on, to choose the best step",
     "id=\"figure-validation"},
};

// Plainer than the catalogue's, which are for people who choose measures.
constexpr struct {
  std::string_view name;
  std::string_view explanation;
} kMeasures[] = {
    {"ndcg", "how high the right documents stand among the first results; 1 is the best order"},
    {"mrr", "one over the rank of the first right document, so 1, 1/2, 1/3; the mean over queries"},
    {"map", "the precision at the rank of each right document; the mean over these, then queries"},
    {"recall", "the share of the right documents among the first results"},
    {"auc", "the chance that a positive scores higher than another document, whatever its query"},
    {"auc_per_query", "the same within each query; the mean over queries"},
    {"partial_auc", "AUC where few non-positives are let through, a tenth of them at most"},
    {"pool_ap", "the mean precision at each positive, all scores in one list"}};

std::string_view ExplanationOf(const eval::MeasureInfo& info) {
  const auto* const plain =
      std::find_if(std::begin(kMeasures), std::end(kMeasures),
                   [&](const auto& measure) { return measure.name == info.name; });
  return plain == std::end(kMeasures) ? info.summary : plain->explanation;
}

// The measures of all evaluations and validations, each once, in the order in which they come.
std::vector<std::string> MeasureNames(const ReportInput& input) {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const LabelledEvaluation& one : input.evaluations) {
    for (const MeasureResult& measure : one.record.measures) add(measure.name);
  }
  for (const RunRecord& run : input.runs) {
    for (const ValidationRow& row : run.log.validations) {
      for (const NamedNumber& number : row.measures) {
        if (number.name.find('[') == std::string::npos) add(number.name);  // not of one data set
      }
    }
  }
  return names;
}

void AddWord(std::string_view word, std::string_view explanation, Html& html) {
  html.In("div", [&] {
    html.In("dt", [&] { html.Foreign(word); });
    html.Element("dd", explanation);
  });
}

}  // namespace

void AddWords(const ReportInput& input, Page& page) {
  const std::string so_far = page.html().bytes();
  const std::vector<std::string> measures = MeasureNames(input);
  const auto used = [&](const Term& term) { return so_far.find(term.used) != std::string::npos; };
  if (measures.empty() && std::none_of(std::begin(kTerms), std::end(kTerms), used)) return;
  page.Section("words", "What the words mean", [&] {
    page.html().In("dl", {{"class", "glossary"}}, [&] {
      for (const std::string& name : measures) {
        const eval::MeasureInfo* const info = eval::FindMeasure(name);
        if (info != nullptr) AddWord(name, ExplanationOf(*info), page.html());
      }
      for (const Term& term : kTerms) {
        if (used(term)) AddWord(term.word, term.explanation, page.html());
      }
    });
    page.Paragraph("All measures of rankings are from 0 to 1, and higher is better.");
  });
}

}  // namespace tandem::report
