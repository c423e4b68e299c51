// Every encoder of the catalogue against transformers: embeddings and gradients of small encoders
// in float64 through the reference forms, in float32 and in bf16. On the device of tests
// (support/test_device.h), where there is one, every form is its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "model/encoders/encoder_cases.h"
#include "support/tensors.h"
#include "support/test_device.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/tensor.h"
#include "tensor/kernels/cpu/bf16_products.h"
#include "tensor/machine/process.h"
#include "weights/architecture.h"

namespace tandem::model {
namespace {

using nlohmann::json;

TEST(EncoderGoldenFile, HasACaseOfEveryModelType) {
  std::set<std::string> types;
  for (const EncoderCase& one : EncoderCases()) types.insert(one.model_type());
  for (const weights::Architecture* architecture : weights::Architectures()) {
    for (const std::string_view type : architecture->model_types) {
      EXPECT_TRUE(types.contains(std::string(type)))
          << type << " has no case in tools/golden/make_encoder_golden.py";
    }
  }
}

class EncoderGolden : public testing::TestWithParam<EncoderCase> {
 protected:
  void SetUp() override { tensor::SetUpProcess(0); }

  const json& golden() const { return GetParam().golden; }
  static std::unique_ptr<Encoder> EncoderOnDevice(tensor::DType type) {
    auto encoder = EncoderOf(GetParam(), type);
    encoder->To(TestDevice());
    return encoder;
  }
  static tensor::PackedTokens TokensOnDevice() {
    return PackTexts(TextsOf(GetParam())).To(TestDevice());
  }

  // Compares norms and stored columns of `rows` [B, H], relative to each row's norm.
  void ExpectRows(const tensor::Tensor& rows, const json& wanted, double tolerance) const {
    ASSERT_EQ(static_cast<size_t>(rows.size(0)), wanted.size());
    for (int64_t b = 0; b < rows.size(0); ++b) {
      const json& row = wanted[static_cast<size_t>(b)];
      const double norm = row[0];
      EXPECT_NEAR(NormOf(rows[b]), norm, tolerance * norm) << "text " << b;
      for (size_t c = 0; c < golden()["columns"].size(); ++c) {
        const int64_t column = golden()["columns"][c];
        EXPECT_NEAR(rows[b][column].item<double>(), row[c + 1].get<double>(), tolerance * norm)
            << "text " << b << " column " << column;
      }
    }
  }

  // Compares every parameter's gradient. Some are zero but for rounding, hence the floor.
  void ExpectGradients(Encoder* encoder, double tolerance, size_t norm_place) const {
    const json& wanted = golden()["gradients"];
    double largest = 0;
    for (const json& one : wanted) largest = std::max(largest, one[0].get<double>());
    const std::vector<NamedParameter> parameters = encoder->Parameters();
    EXPECT_EQ(parameters.size(), wanted.size());
    for (const NamedParameter& parameter : parameters) {
      ASSERT_TRUE(wanted.contains(parameter.name)) << parameter.name;
      const json& one = wanted[parameter.name];
      const tensor::Tensor gradient = GradientOf(parameter.value);
      const double scale = std::max(one[0].get<double>(), 1e-3 * largest);
      EXPECT_NEAR(NormOf(gradient), one[norm_place].get<double>(), tolerance * scale)
          << parameter.name;
      EXPECT_NEAR(ElementsOf(gradient).at(one[2].get<size_t>()), one[3].get<double>(),
                  tolerance * scale)
          << parameter.name;
    }
  }
};

TEST_P(EncoderGolden, Float64EqualsTransformersToNinePlaces) {
  const auto encoder = EncoderOnDevice(tensor::kDouble);
  const tensor::PackedTokens tokens = TokensOnDevice();
  const tensor::Tensor rows = TokenRows(encoder.get(), tokens);
  const tensor::Tensor pooled = tensor::OnCpu(PooledRows(rows, tokens));
  ExpectRows(pooled, golden()["pooled"], 1e-9);
  const tensor::Tensor last = tensor::OnCpu(rows[rows.size(0) - 1].detach());
  for (size_t c = 0; c < golden()["columns"].size(); ++c) {
    EXPECT_NEAR(last[golden()["columns"][c].get<int64_t>()].item<double>(),
                golden()["last"][c].get<double>(), 1e-9 * NormOf(last));
  }
  const tensor::Tensor loss = SineLoss(pooled);
  EXPECT_NEAR(loss.item<double>(), golden()["loss"].get<double>(), 1e-9);
  loss.backward();
  ExpectGradients(encoder.get(), 1e-9, 0);
}

TEST_P(EncoderGolden, Float32IsWithinTenToTheMinusFive) {
  const auto encoder = EncoderOnDevice(tensor::kFloat);
  const tensor::PackedTokens tokens = TokensOnDevice();
  const tensor::Tensor pooled = tensor::OnCpu(PooledRows(TokenRows(encoder.get(), tokens), tokens));
  ExpectRows(pooled, golden()["pooled32"], 1e-5);
  SineLoss(pooled).backward();
  ExpectGradients(encoder.get(), 1e-4, 1);
}

TEST_P(EncoderGolden, Bf16ErrsAtMostHalfAsMuchAgain) {
  if (TestDevice().is_cpu() && !tensor::HasBf16Products()) GTEST_SKIP() << "no products of bf16";
  const tensor::NoGradGuard no_gradient;
  const tensor::PackedTokens tokens = TokensOnDevice();
  const auto exact = EncoderOnDevice(tensor::kDouble);
  const auto encoder = EncoderOnDevice(tensor::kFloat);
  const tensor::Tensor wanted = PooledRows(TokenRows(exact.get(), tokens), tokens);
  const tensor::Tensor got =
      PooledRows(TokenRows(encoder.get(), tokens, {.precision = tensor::Precision::kBf16}), tokens);
  double squares = 0;
  for (const double error : golden()["bf16"]) squares += error * error;
  EXPECT_LE(Distance(got, wanted), 1.5 * std::sqrt(squares));
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EncoderGolden, testing::ValuesIn(EncoderCases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace tandem::model
