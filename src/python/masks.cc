// The masks of a batch whose texts are known by hashes.
#include "sampling/masks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"
#include "python/module.h"
#include "sampling/batch.h"
#include "sampling/examples.h"

namespace tandem::python {
namespace {

namespace nb = nanobind;

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using MatrixIn = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using MatrixOut = nb::ndarray<uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr std::pair<std::string_view, bool sampling::MaskRules::*> kRules[] = {
    {"copies", &sampling::MaskRules::copies},
    {"known_positives", &sampling::MaskRules::known_positives},
    {"same_query", &sampling::MaskRules::same_query},
    {"query_text", &sampling::MaskRules::query_text},
    {"in_batch", &sampling::MaskRules::in_batch}};

void SetRule(const std::string& name, bool value, sampling::MaskRules& rules) {
  std::vector<std::string_view> known;
  for (const auto& [rule, member] : kRules) {
    if (rule == name) {
      rules.*member = value;
      return;
    }
    known.push_back(rule);
  }
  throw UsageError(fmt::format("masks.{} is unknown{}; expected one of {}", name,
                               DidYouMean(name, known), fmt::join(known, ", ")));
}

sampling::MaskRules RulesOf(const nb::dict& given) {
  sampling::MaskRules rules;
  for (const auto [name, value] : given) {
    const auto rule = nb::cast<std::string>(name);
    if (!PyBool_Check(value.ptr())) {
      throw UsageError(fmt::format("masks.{} must be True or False", rule));
    }
    SetRule(rule, nb::cast<bool>(value), rules);
  }
  return rules;
}

void Write(const std::vector<uint8_t>& mask, const MatrixOut& out) {
  if (out.nbytes() != mask.size()) throw std::logic_error("a mask of another shape");
  std::memcpy(out.data(), mask.data(), mask.size());
}

// Columns are the paired documents of all rows, then the further ones of row 0, of row 1, ...
// `grades` [Q, 1 + K] are of each row's own documents. Writes 1 where a document or query may count
// as a negative.
void WriteMasks(const Vector<uint64_t>& query_hashes, const Vector<uint64_t>& document_hashes,
                const MatrixIn<double>& grades, const nb::dict& given_rules,
                const MatrixOut& negative, const MatrixOut& query, const MatrixOut& document) {
  const sampling::MaskRules rules = RulesOf(given_rules);
  const size_t rows = query_hashes.size(), own = grades.shape(1);
  if (grades.shape(0) != rows || document_hashes.size() != rows * own) {
    throw std::logic_error("grades or hashes of another batch");
  }
  sampling::Examples examples(
      1, {document_hashes.data(), document_hashes.data() + document_hashes.size()});
  sampling::Batch batch{.extra_starts = {static_cast<uint32_t>(rows)}};
  for (uint32_t column = 0; column < rows * own; ++column) batch.documents.push_back(column);
  for (uint32_t row = 0; row < rows; ++row) {
    const uint32_t extra = batch.extra_starts.back();
    std::vector<sampling::Judged> judged = {{.document = row, .grade = grades(row, 0)}};
    for (uint32_t i = 1; i < own; ++i) {
      judged.push_back({.document = extra + i - 1, .grade = grades(row, i)});
    }
    examples.Add(query_hashes(row), judged);
    batch.queries.push_back(row);
    batch.extra_starts.push_back(extra + static_cast<uint32_t>(own) - 1);
  }
  const sampling::Masks masks = sampling::MakeMasks(examples, batch, rules);
  Write(masks.negative, negative);
  Write(masks.query_negative, query);
  Write(masks.document_negative, document);
}

}  // namespace

void AddMasks(nb::module_& module) {
  module.def("write_masks", WriteMasks, nb::arg("query_hashes"), nb::arg("document_hashes"),
             nb::arg("grades"), nb::arg("rules"), nb::arg("negative").noconvert(),
             nb::arg("query").noconvert(), nb::arg("document").noconvert());
}

}  // namespace tandem::python
