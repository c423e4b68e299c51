// The work of `tandem loss`: computes each case with the objective that training uses.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json/json.h"
#include "cli/output_style.h"
#include "commands/loss/loss_cases.h"
#include "commands/loss/loss_command.h"
#include "objective/embedding_loss.h"
#include "report/tables/table.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/process.h"

namespace tandem::app {
namespace {

using objective::EmbeddingLoss;

template <typename T>
void AppendMatrix(const tensor::Tensor& matrix, std::string& out) {
  const auto* values = matrix.data_ptr<T>();
  out += '[';
  for (int64_t i = 0; i < matrix.size(0); ++i) {
    out += i == 0 ? "[" : ", [";
    for (int64_t j = 0; j < matrix.size(1); ++j) {
      // The number has the fewest digits that read back to the same bits.
      out += fmt::format("{}{}", j == 0 ? "" : ", ", values[i * matrix.size(1) + j]);
    }
    out += ']';
  }
  out += ']';
}

void AppendGradient(std::string_view name, const tensor::Tensor& gradient, std::string& out) {
  out += fmt::format(", \"{}\": ", name);
  if (gradient.dtype() == tensor::kFloat) {
    AppendMatrix<float>(gradient, out);
  } else {
    AppendMatrix<double>(gradient, out);
  }
}

void AppendNumbers(std::string_view name, std::span<const double> numbers, std::string& out) {
  out += fmt::format(", \"{}\": [{}]", name, fmt::join(numbers, ", "));
}

void PrintResults(std::span<const LossCase> cases, tensor::DType dtype) {
  std::string out = "[";
  for (size_t i = 0; i < cases.size(); ++i) {
    const EmbeddingLoss result = objective::EvaluateEmbeddings(cases[i], dtype);
    out += fmt::format("{}\n {{\"objective\": \"{}\", \"loss\": {}", i == 0 ? "" : ",",
                       cases[i].objective->name, result.loss);
    AppendNumbers("losses", result.losses, out);
    AppendGradient("grad_queries", result.grad_queries, out);
    AppendGradient("grad_documents", result.grad_documents, out);
    out += '}';
  }
  std::fputs((out + "\n]\n").c_str(), stdout);
}

// Returns max |got - want| / max(1, max |want|); infinite if something is not a number.
double WorstError(std::span<const double> got, std::span<const double> want) {
  double difference = 0;
  double largest = 1;
  for (size_t i = 0; i < want.size(); ++i) {
    const double error = std::fabs(got[i] - want[i]);
    if (std::isnan(error)) return HUGE_VAL;
    difference = std::max(difference, error);
    largest = std::max(largest, std::fabs(want[i]));
  }
  return difference / largest;
}

double WorstError(const tensor::Tensor& got, const Matrix<double>& want) {
  const tensor::Tensor plain = got.to(tensor::kDouble);
  return WorstError({plain.data_ptr<double>(), want.values.size()}, want.values);
}

struct CheckRow {
  size_t index = 0;
  std::string_view objective;
  double loss = 0;  // largest error of the loss or of a query's loss
  double queries = 0;
  double documents = 0;
  double Worst() const { return std::max({loss, queries, documents}); }
};

std::vector<CheckRow> Compare(std::span<const LossCase> cases, tensor::DType dtype) {
  std::vector<CheckRow> rows;
  for (size_t i = 0; i < cases.size(); ++i) {
    const EmbeddingLoss got = objective::EvaluateEmbeddings(cases[i], dtype);
    const ExpectedLoss& want = *cases[i].expected;
    const double loss =
        std::max(WorstError({&got.loss, 1}, {&want.loss, 1}), WorstError(got.losses, want.losses));
    rows.push_back({i, cases[i].objective->name, loss,
                    WorstError(got.grad_queries, want.grad_queries),
                    WorstError(got.grad_documents, want.grad_documents)});
  }
  return rows;
}

// The largest error that --check accepts (docs/cli/loss.md).
double Bound(tensor::DType dtype) { return dtype == tensor::kFloat ? 1e-5 : 1e-11; }

std::string CheckJson(std::span<const CheckRow> rows, double bound) {
  report::Table table({{.name = "case"},
                       {.name = "objective"},
                       {.name = "loss_error"},
                       {.name = "grad_queries_error"},
                       {.name = "grad_documents_error"},
                       {.name = "bound"},
                       {.name = "ok"}});
  for (const CheckRow& row : rows) {
    table.Add({row.index, row.objective, row.loss, row.queries, row.documents, bound,
               row.Worst() <= bound});
  }
  return report::JsonText(table.Json());
}

void PrintTable(std::span<const CheckRow> rows, double bound, const std::string& format) {
  const auto scientific = [](double error) { return report::Scientific(error); };
  report::Table table({{.name = "case", .least_width = 5},
                       {.name = "objective", .least_width = 16},
                       {.name = "loss", .show = scientific, .least_width = 10},
                       {.name = "grad_queries", .show = scientific},
                       {.name = "grad_documents", .show = scientific},
                       {.name = "verdict"}});
  for (const CheckRow& row : rows) {
    table.Add({row.index, row.objective, row.loss, row.queries, row.documents,
               row.Worst() <= bound ? "ok" : "out of bounds"});
  }
  const std::string text =
      format == "json" ? CheckJson(rows, bound) : table.Format(format, OutputStyle());
  std::fputs(text.c_str(), stdout);
}

void Check(std::span<const LossCase> cases, tensor::DType dtype, const std::string& format) {
  const std::vector<CheckRow> rows = Compare(cases, dtype);
  const double bound = Bound(dtype);
  PrintTable(rows, bound, format);
  const auto bad = std::count_if(rows.begin(), rows.end(),
                                 [&](const CheckRow& row) { return !(row.Worst() <= bound); });
  if (bad > 0) {
    throw CheckFailed(fmt::format("{} of {} cases are further than {} from what is expected", bad,
                                  rows.size(), bound));
  }
}

}  // namespace

void RunLoss(const LossOptions& options) {
  tensor::SetUpProcess(ThreadsOf(options.globals));
  const std::vector<LossCase> cases = ReadLossCases(options.cases, options.check);
  const tensor::DType dtype = options.dtype == "float32" ? tensor::kFloat : tensor::kDouble;
  if (options.check) {
    Check(cases, dtype, options.format);
  } else {
    PrintResults(cases, dtype);
  }
}

}  // namespace tandem::app
