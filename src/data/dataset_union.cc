#include "data/dataset_union.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"

namespace tandem::data {

uint32_t DatasetUnion::Append(const Texts& part, Texts& all) const {
  const auto first = static_cast<uint32_t>(all.size());
  for (size_t i = 0; i < part.size(); ++i) {
    all.Add(fmt::format("{}:{}", parts_, part.id(i)), part.text(i), part.title(i).size());
  }
  return first;
}

void DatasetUnion::Add(Dataset part) {
  if (parts_ > 0 && part.query_prompt != all_.query_prompt) {
    throw DataError(part.file, 0, "",
                    fmt::format("its queries have the prompt \"{}\", those of {} \"{}\"; a model "
                                "has one query prompt",
                                part.query_prompt, all_.file, all_.query_prompt));
  }
  ++parts_;
  const uint32_t first_document = Append(part.documents, all_.documents);
  const uint32_t first_query = Append(part.queries, all_.queries);
  for (JudgedQuery& judged : part.judged) {
    judged.query += first_query;
    for (Judgement& judgement : judged.judgements) judgement.document += first_document;
    all_.judged.push_back(std::move(judged));
  }
  if (parts_ == 1) {
    all_.file = part.file;
    all_.query_prompt = part.query_prompt;
  }
  if (all_.scores == ScoreKind::kNone) all_.scores = part.scores;
  all_.has_grades = all_.has_grades || part.has_grades;
}

Dataset DatasetUnion::Take() {
  parts_ = 0;
  return std::exchange(all_, {});
}

}  // namespace tandem::data
