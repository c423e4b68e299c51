// Shows where queries and documents lie in the space of embeddings.
#include <fmt/format.h>

#include <algorithm>

#include "report/page/page_parts.h"
#include "report/records/same_data.h"
#include "report/tables/numbers.h"

namespace tandem::report {
namespace {

PageTable ViewTable(const EvaluationGroup& group) {
  PageTable table{.caption = "Numbers of the embeddings, " + group.dataset,
                  .columns = {{"Evaluation"},
                              {"Centroid gap", true},
                              {"Linear separability", true},
                              {"Median ratio", true},
                              {"Uniformity", true},
                              {"Alignment", true}}};
  for (const LabelledEvaluation* one : group.evaluations) {
    if (!one->record.views) continue;
    const ViewFacts& views = *one->record.views;
    table.rows.push_back({ForeignCell(one->label), NumberCell(views.centroid_gap),
                          NumberCell(views.linear_separability), NumberCell(views.median_ratio),
                          NumberCell(views.uniformity), NumberCell(views.alignment)});
  }
  return table;
}

// One histogram of all evaluations that have it.
void AddHistograms(const EvaluationGroup& group, std::optional<Histogram> ViewFacts::*member,
                   Figure figure, Page& page) {
  for (size_t i = 0; i < group.evaluations.size(); ++i) {
    const LabelledEvaluation& one = *group.evaluations[i];
    if (!one.record.views || !(*one.record.views.*member)) continue;
    figure.series.push_back({.name = one.label,
                             .mark = Mark::kSteps,
                             .points = HistogramOutline(*(*one.record.views.*member)),
                             .colour = group.colours[i]});
  }
  if (!figure.series.empty()) page.AddFigure(std::move(figure));
}

// Both towers' texts as dots.
Figure TowersFigure(std::string name, std::string title, std::string description,
                    const std::vector<Point>& documents, const std::vector<Point>& queries) {
  return {.name = std::move(name),
          .title = std::move(title),
          .description = std::move(description),
          .x = {.label = "first direction", .column = "x"},
          .y = {.label = "second direction", .column = "y"},
          .series = {{.name = "documents", .mark = Mark::kPoints, .points = documents, .colour = 0},
                     {.name = "queries", .mark = Mark::kPoints, .points = queries, .colour = 1}}};
}

// The principal components of each evaluation, and its t-SNE beside them where it was kept.
void AddProjections(const EvaluationGroup& group, Page& page) {
  for (const LabelledEvaluation* one : group.evaluations) {
    if (!one->record.views) continue;
    const ViewFacts& views = *one->record.views;
    if (!views.projected_documents.empty()) {
      page.AddFigure(TowersFigure("projection", "Both towers in two dimensions, " + one->label,
                                  "Each dot is a text. Queries that lie apart from all documents "
                                  "are told from them by their kind, not by what they say.",
                                  views.projected_documents, views.projected_queries));
    }
    if (!views.tsne_documents.empty()) {
      Figure figure = TowersFigure("tsne", "Both towers by t-SNE, " + one->label,
                                   "Each dot is a text, near those that are near it in the space. "
                                   "Distances between groups of dots and their sizes mean nothing.",
                                   views.tsne_documents, views.tsne_queries);
      figure.x.label = figure.y.label = "";
      page.AddFigure(std::move(figure));
    }
  }
}

std::string WhyNoViews(const EvaluationGroup& group) {
  return IsByDocument(group.evaluations.front()->record.dataset)
             ? "documents are ranked by their passages, and only passages have embeddings; a "
               "corpus of whole documents, measured without --by-document, has views"
             : "these evaluations kept none; tandem report RUN --dataset FOLDER measures anew and "
               "keeps them";
}

}  // namespace

void AddViews(const ReportInput& input, Page& page) {
  const std::vector<EvaluationGroup> groups = GroupsOf(input);
  if (groups.empty()) return;
  page.Section("views", "Where embeddings lie", [&] {
    for (const EvaluationGroup& group : groups) {
      if (groups.size() > 1) page.Subheading(group.dataset);
      const PageTable table = ViewTable(group);
      if (table.rows.empty()) {
        page.Missing(
            fmt::format("No views of the embeddings on {}: {}.", group.dataset, WhyNoViews(group)));
        continue;
      }
      page.AddTable(table);
      page.Figures([&] {
        AddHistograms(
            group, &ViewFacts::nearest_cosine,
            HistogramFigure("nearest-cosine", "Query and nearest document",
                            "Cosine of each query and the document nearest to it.", "cosine"),
            page);
        AddHistograms(
            group, &ViewFacts::ratio,
            HistogramFigure("ratio", "Queries beside documents",
                            "Similarity of two random queries, divided by that of the "
                            "first and the second's positive. Above 1, queries are nearer "
                            "to each other than to documents.",
                            "ratio"),
            page);
        AddProjections(group, page);
      });
    }
  });
}

}  // namespace tandem::report
