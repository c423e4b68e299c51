// Batches with everything that an objective may ask for, drawn from a named random stream.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "objective/catalogue.h"

namespace tandem::objective {

// std::vector<bool> has no pointer to its elements.
struct MaskStore {
  explicit MaskStore(size_t count) : cells(std::make_unique<bool[]>(count)), size(count) {}
  MaskStore(const MaskStore& other) : MaskStore(other.size) {
    std::copy_n(other.cells.get(), size, cells.get());
  }
  MaskStore& operator=(const MaskStore& other) {
    std::copy_n(other.cells.get(), size, cells.get());  // of the same size
    return *this;
  }
  bool& operator[](size_t i) { return cells[i]; }
  bool operator[](size_t i) const { return cells[i]; }

  std::unique_ptr<bool[]> cells;
  size_t size;
};

struct BatchShape {
  int64_t queries = 5;
  int64_t documents = 11;
};

// Owns the arrays that a Batch points into. A cell is labelled, an allowed negative, both or
// neither; paired documents are labelled, and their columns are shuffled.
struct RandomBatch {
  RandomBatch(uint64_t seed, BatchShape shape)
      : q(static_cast<size_t>(shape.queries)),
        d(static_cast<size_t>(shape.documents)),
        query_document(q * d),
        query_query(q * q),
        document_document(q * q),
        positive(q),
        grades(q * d),
        teacher(q * d),
        labelled(q * d),
        negative(q * d),
        query_negative(q * q),
        document_negative(q * q) {
    RandomStream random({.seed = seed, .purpose = "objective test"});
    const auto fill = [&](std::vector<double>& values) {
      for (double& value : values) value = 2 * random.Uniform() - 1;
    };
    fill(query_document);
    fill(query_query);
    fill(document_document);
    fill(teacher);
    std::vector<int64_t> columns(d);
    for (size_t j = 0; j < d; ++j) columns[j] = static_cast<int64_t>(j);
    random.Shuffle(std::span(columns));
    for (size_t i = 0; i < q; ++i) {
      for (size_t j = 0; j < d; ++j) DrawCell(i * d + j, random);
      for (size_t j = 0; j < q; ++j) {
        query_negative[i * q + j] = i != j && random.Uniform() < 0.7;
        document_negative[i * q + j] = i != j && random.Uniform() < 0.7;
      }
      positive[i] = columns[i];
      const size_t own = Own(i);
      labelled[own] = true;
      negative[own] = false;
      grades[own] = 0.25 * static_cast<double>(1 + random.Below(4));
    }
  }

  size_t Own(size_t i) const { return i * d + static_cast<size_t>(positive[i]); }

  // The result is valid until the next call, and while this object lives and does not change.
  Batch View(int threads = 1) const {
    ListLabels();
    return {.queries = static_cast<int64_t>(q),
            .documents = static_cast<int64_t>(d),
            .same_tower = static_cast<int64_t>(q),
            .query_document = query_document.data(),
            .query_query = query_query.data(),
            .document_document = document_document.data(),
            .positive = positive.data(),
            .own_grades = own_grades_.data(),
            .own_teacher = own_teacher_.data(),
            .negative = negative.cells.get(),
            .query_negative = query_negative.cells.get(),
            .document_negative = document_negative.cells.get(),
            .weights = weights.empty() ? nullptr : weights.data(),
            .labelled = cells_.data(),
            .labelled_begin = begin_.data(),
            .bank_positives = bank_positives,
            .bank_negatives = bank_negatives,
            .scale = scale,
            .bias = bias,
            .threads = threads};
  }

  LabelledCells Labelled() const {
    ListLabels();
    return {cells_, begin_, own_grades_, own_teacher_};
  }

  size_t q;
  size_t d;
  std::vector<double> query_document, query_query, document_document;
  std::vector<int64_t> positive;
  std::vector<double> grades, teacher;
  MaskStore labelled, negative, query_negative, document_negative;
  std::vector<double> weights;  // [Q], or empty
  std::vector<double> bank_positives, bank_negatives;
  std::optional<double> scale, bias;

 private:
  void DrawCell(size_t cell, RandomStream& random) {
    const double kind = random.Uniform();
    labelled[cell] = kind < 0.25;
    negative[cell] = kind >= 0.15 && kind < 0.8;
    grades[cell] = labelled[cell] ? 0.25 * static_cast<double>(random.Below(5)) : 0;
  }

  void ListLabels() const {
    cells_.clear();
    begin_ = {0};
    own_grades_.clear();
    own_teacher_.clear();
    for (size_t i = 0; i < q; ++i) {
      for (size_t cell = i * d; cell < (i + 1) * d; ++cell) {
        if (!labelled[cell]) continue;
        cells_.push_back({static_cast<int64_t>(cell - i * d), grades[cell], teacher[cell]});
      }
      begin_.push_back(static_cast<int64_t>(cells_.size()));
      own_grades_.push_back(grades[Own(i)]);
      own_teacher_.push_back(teacher[Own(i)]);
    }
  }

  mutable std::vector<LabelledCell> cells_;
  mutable std::vector<int64_t> begin_;
  mutable std::vector<double> own_grades_, own_teacher_;
};

// A loss with its gradient, in arrays.
struct Graded {
  explicit Graded(const RandomBatch& batch)
      : query_document(batch.q * batch.d),
        query_query(batch.q * batch.q),
        document_document(batch.q * batch.q) {}

  Evaluation evaluation;
  std::vector<double> query_document, query_query, document_document;
  double scale = 0;
  double bias = 0;
};

inline Graded EvaluateWithGradient(const Formula& formula, const RandomBatch& batch,
                                   int threads = 1) {
  Graded result(batch);
  Gradient gradient = {.query_document = result.query_document.data(),
                       .query_query = result.query_query.data(),
                       .document_document = result.document_document.data()};
  result.evaluation = formula.Evaluate(batch.View(threads), &gradient);
  result.scale = gradient.scale;
  result.bias = gradient.bias;
  return result;
}

inline double LossOf(const Formula& formula, const RandomBatch& batch) {
  return formula.Evaluate(batch.View(), nullptr).loss;
}

// An objective under one setting of its parameters.
struct Variant {
  const ObjectiveInfo* info = nullptr;
  config::Params params;
  std::string name;  // for messages: "infonce directions=both"

  Needs needs() const { return info->needs(params); }
  std::unique_ptr<const Formula> Make() const { return info->make(params); }
};

// Every objective with its defaults, and with each choice and switch at its other values.
inline std::vector<Variant> AllVariants() {
  std::vector<Variant> variants;
  for (const ObjectiveInfo* info : Objectives()) {
    const config::Params defaults(info->params);
    const std::string name(info->name);
    variants.push_back({info, defaults, name});
    const auto add = [&](const config::ParamInfo& param, const config::Value& value) {
      config::Params params = defaults;
      if (!params.Set(param.name, value).empty() || params == defaults) return;
      // `same_tower` = "both" asks for both directions.
      if (info->problem != nullptr && !info->problem(params).text.empty()) {
        params.Set("directions", std::string("both"));
      }
      variants.push_back(
          {info, params, name + " " + std::string(param.name) + "=" + config::FormatValue(value)});
    };
    for (const config::ParamInfo& param : info->params) {
      if (param.name == "similarity_kind")
        continue;  // belongs to the similarity, not to the formula
      for (const config::ChoiceInfo& choice : param.choices) add(param, std::string(choice.name));
      if (param.kind == config::ParamKind::kBoolean) {
        add(param, true);
        add(param, false);
      }
    }
  }
  return variants;
}

}  // namespace tandem::objective
