// Operations of the back end on the device of tests, against the reference loops in float64 on the
// processor: outputs and all gradients.
#include "libtorch/operations/operations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "support/test_device.h"
#include "tensor/compare_forms.h"
#include "tensor/isa/isa.h"
#include "tensor/kernels/cpu/attention_problem.h"
#include "tensor/reference/reference_cases.h"

namespace tandem::libtorch {
namespace {

using tensor::AttentionProblem;
using tensor::DType;
using tensor::Form;
using tensor::Operation;
using tensor::PackedTokens;
using tensor::ReferenceCase;
using tensor::ReferenceCases;
using tensor::Result;
using tensor::Tensor;

// One of the operations that are compared: on the processor, and on the device of tests.
struct Compared {
  std::string name;
  Operation reference, on_device;
  const std::vector<Tensor>* inputs;
  size_t activations;
};

// In double only the order of sums differs. In float the bound is that of all forms (inputs.h). In
// bf16 each step of a formula rounds, as in the reference loops of that type, which are within 32
// roundings of the largest number (tests/tensor/reference/reference_test.cc).
constexpr tensor::Case kBounds[] = {
    {tensor::kDouble, 1e-11}, {tensor::kFloat, 2e-5}, {tensor::kBFloat16, 32 * 0x1p-8}};

bool HasProducts(DType type) {
  return type != tensor::kBFloat16 || !TestDevice().is_cpu() ||
         tensor::CurrentIsa() >= tensor::Isa::kAvx512;
}

void ExpectEqualsReference(const Compared& compared) {
  const size_t count = compared.inputs->size();
  const Result want = RunOnce(compared.reference, *compared.inputs,
                              std::vector<DType>(count, tensor::kDouble), Form::kReference);
  for (const auto& [activation, bound] : kBounds) {
    if (!HasProducts(activation)) continue;
    const bool is_double = activation == tensor::kDouble;
    std::vector<DType> types(count, is_double ? tensor::kDouble : tensor::kFloat);
    std::fill_n(types.begin(), compared.activations, activation);
    const std::vector<double> errors = tensor::Errors(
        RunOnce(compared.on_device, *compared.inputs, types, Form::kReference, TestDevice()), want);
    for (size_t i = 0; i < errors.size(); ++i) {
      EXPECT_LE(errors[i], bound) << compared.name << ", array " << i << ", "
                                  << tensor::Name(activation);
    }
  }
}

TEST(OperationsOnADevice, EqualTheReferenceLoops) {
  const Operations operations;
  const std::vector<ReferenceCase> here = ReferenceCases(), there = ReferenceCases(TestDevice());
  ASSERT_GT(here.size(), 400u);
  for (size_t i = 0; i < here.size(); ++i) {
    // What starts from tables alone has no activations, whose type would be another one.
    if (here[i].activations == 0) continue;
    ExpectEqualsReference({.name = here[i].name,
                           .reference = here[i].By(tensor::ReferenceLoops()),
                           .on_device = there[i].By(operations),
                           .inputs = &here[i].inputs,
                           .activations = here[i].activations});
  }
}

// Sums of tables, in double and float.
TEST(OperationsOnADevice, EmbeddingsEqualTheReferenceLoops) {
  const Operations operations;
  const std::vector<ReferenceCase> here = ReferenceCases(), there = ReferenceCases(TestDevice());
  for (size_t i = 0; i < here.size(); ++i) {
    if (here[i].activations != 0) continue;
    for (const auto& [type, bound] : std::span(kBounds).first(2)) {
      const std::vector<DType> types(here[i].inputs.size(), type);
      const std::vector<DType> wide(types.size(), tensor::kDouble);
      const Result want =
          RunOnce(here[i].By(tensor::ReferenceLoops()), here[i].inputs, wide, Form::kReference);
      const Result got =
          RunOnce(there[i].By(operations), here[i].inputs, types, Form::kReference, TestDevice());
      for (const double error : tensor::Errors(got, want)) EXPECT_LE(error, bound) << here[i].name;
    }
  }
}

// Texts of the lengths of real ones, whose classes and pieces are several.
TEST(OperationsOnADevice, AttentionOverLongTextsEqualsTheReferenceLoops) {
  const Operations operations;
  for (const tensor::AttentionSetting& setting : std::vector<tensor::AttentionSetting>{
           {.lengths = {300, 2, 129, 64}, .shape = {12, 12, 32}, .rule = {.scale = 0.18}},
           {.lengths = {513, 40, 41}, .shape = {4, 2, 64}, .rule = {.scale = 0.1, .causal = true}},
           {.lengths = {200, 70},
           .shape = {4, 4, 16},
           .rule = {.scale = 0.2, .window = 30},
           .dropout = 0.1},
           {.lengths = {90, 17, 5}, .shape = {4, 4, 16}, .rule = {.scale = 0.25}, .buckets = 32}}) {
    const AttentionProblem problem(setting);
    const auto attention = [&](const tensor::DeviceOperations& by, const PackedTokens& tokens) {
      return [&problem, &by, tokens](const std::vector<Tensor>& in) {
        const tensor::AttentionSetting& s = problem.setting;
        const Tensor table = in.size() > 1 ? in[1] : Tensor();
        return by.Attention(in[0], tokens, s.shape, s.rule, {table, s.max_distance},
                            problem.Drop());
      };
    };
    std::vector<Tensor> inputs = {problem.qkv};
    if (problem.table.defined()) inputs.push_back(problem.table);
    ExpectEqualsReference({.name = setting.Name(),
                           .reference = attention(tensor::ReferenceLoops(), problem.tokens),
                           .on_device = attention(operations, problem.tokens.To(TestDevice())),
                           .inputs = &inputs,
                           .activations = 1});
  }
}

}  // namespace
}  // namespace tandem::libtorch
