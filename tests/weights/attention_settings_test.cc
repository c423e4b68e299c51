// What each architecture reads from config.json of attention: windows and rotary positions.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "weights/architecture_fixture.h"

namespace tandem::weights {
namespace {

TEST_F(ArchitectureTest, WindowsOfDecoders) {
  EXPECT_EQ(Windows(Read(Decoder("llama"))), (std::vector<int64_t>{0, 0, 0, 0}));
  EXPECT_EQ(Windows(Read(Decoder("mistral"))), (std::vector<int64_t>{7, 7, 7, 7}));
  EXPECT_EQ(Windows(Read(Decoder("mistral"), false)), (std::vector<int64_t>{8, 8, 8, 8}));
  EXPECT_EQ(Windows(Read(Changed(Decoder("mistral"), {{"sliding_window", nullptr}}))),
            (std::vector<int64_t>{0, 0, 0, 0}));
  json absent = Decoder("mistral");
  absent.erase("sliding_window");
  EXPECT_EQ(Windows(Read(absent)), (std::vector<int64_t>{4095, 4095, 4095, 4095}));
  json qwen = Changed(Decoder("qwen2"), {{"max_window_layers", 3}});
  EXPECT_EQ(Windows(Read(qwen)), (std::vector<int64_t>{0, 0, 0, 0}));
  qwen["use_sliding_window"] = true;
  EXPECT_EQ(Windows(Read(qwen)), (std::vector<int64_t>{0, 0, 0, 7}));
  qwen["layer_types"] = {"sliding_attention", "full_attention", "full_attention",
                         "sliding_attention"};
  EXPECT_EQ(Windows(Read(qwen)), (std::vector<int64_t>{7, 0, 0, 7}));
  qwen["use_sliding_window"] = false;
  ExpectMessage(qwen,
                "'use_sliding_window' is false; true, because layer_types names "
                "sliding_attention, expected");
}

TEST_F(ArchitectureTest, WindowsOfModernBertAndGemma) {
  EXPECT_EQ(Windows(Read(ModernBert())), (std::vector<int64_t>{0, 64, 64, 0, 64, 64}));
  EXPECT_EQ(Rotaries(Read(ModernBert())), (std::vector<int>{0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(Windows(Read(Changed(ModernBert(),
                                 {{"local_attention", 7}, {"global_attn_every_n_layers", 2}}))),
            (std::vector<int64_t>{0, 3, 0, 3, 0, 3}));
  const json gemma = Changed(Gemma(), {{"sliding_window_pattern", 2}, {"sliding_window", 9}});
  EXPECT_EQ(Windows(Read(gemma)), (std::vector<int64_t>{8, 0, 8, 0}));
  EXPECT_EQ(Rotaries(Read(gemma)), (std::vector<int>{1, 0, 1, 0}));
  EXPECT_EQ(Windows(Read(gemma, false)), (std::vector<int64_t>{9, 0, 9, 0}));
  const EncoderSpec both = Read(Changed(gemma, {{"use_bidirectional_attention", true}}));
  EXPECT_EQ(Windows(both), (std::vector<int64_t>{4, 0, 4, 0}));
  EXPECT_FALSE(both.layers[0].attention.causal);
  EXPECT_EQ(both.embedding.scale, static_cast<double>(std::sqrt(32.0F)));
}

TEST_F(ArchitectureTest, WindowsBelowTwoAreRefused) {
  const std::string range = "; an integer from 2 to 16777216 expected";
  ExpectMessage(Changed(Decoder("mistral"), {{"sliding_window", 0}}),
                "'sliding_window' is 0" + range);
  ExpectMessage(Changed(Gemma(), {{"sliding_window", 1}}), "'sliding_window' is 1" + range);
  ExpectMessage(Changed(ModernBert(), {{"local_attention", 0}}), "'local_attention' is 0" + range);
  ExpectMessage(Changed(ModernBert(), {{"layer_types", {"full_attention"}}}),
                "'layer_types' is [\"full_attention\"]; a list of 6 names, one for each layer, "
                "expected");
  ExpectMessage(Changed(Changed(ModernBert(), {{"num_hidden_layers", 1}}),
                        {{"layer_types", {"chunked_attention"}}}),
                "'layer_types' is [\"chunked_attention\"]; names that are \"full_attention\" or "
                "\"sliding_attention\" (the supported ones) expected");
}

TEST_F(ArchitectureTest, RotaryScalingsNameTheSupported) {
  ExpectMessage(Changed(Decoder("llama"), {{"rope_scaling", {{"type", "yarn"}, {"factor", 4}}}}),
                "'type' is \"yarn\"; \"default\", \"linear\" or \"llama3\" (the supported scalings "
                "of rotary positions) expected");
  ExpectMessage(Changed(Decoder("llama"), {{"rope_parameters", {{"rope_type", "longrope"}}}}),
                "'rope_type' is \"longrope\"; \"default\", \"linear\" or \"llama3\" (the supported "
                "scalings of rotary positions) expected");
  ExpectMessage(Changed(Decoder("llama"), {{"rope_scaling", {{"rope_type", "linear"}}}}),
                "'factor' is missing; a number, which this scaling of rotary positions needs, "
                "expected");
  ExpectMessage(Changed(Decoder("llama"), {{"partial_rotary_factor", 0.5}}),
                "'partial_rotary_factor' is 0.5; 1 (all channels of a head turn) expected");
  ExpectMessage(Changed(ModernBert(), {{"rope_parameters", {{"rope_theta", 100}}}}),
                "'rope_parameters' is {\"rope_theta\":100}; an object with full_attention and "
                "sliding_attention expected");
}

TEST_F(ArchitectureTest, RotaryBasesInEitherSpelling) {
  const auto base = [&](const json& config, size_t rotary = 0) {
    return Read(config).rotaries[rotary].text;
  };
  EXPECT_EQ(base(Decoder("llama")), "base 10000");
  EXPECT_EQ(base(Changed(Decoder("llama"), {{"rope_theta", 500.0}})), "base 500");
  EXPECT_EQ(base(Changed(Decoder("llama"),
                         {{"rope_theta", 500.0}, {"rope_parameters", {{"rope_theta", 700.0}}}})),
            "base 700");
  EXPECT_EQ(base(ModernBert()), "base 160000");
  EXPECT_EQ(base(ModernBert(), 1), "base 10000");
  EXPECT_EQ(base(Gemma()), "base 1000000");
  EXPECT_EQ(base(Changed(Gemma(), {{"rope_local_base_freq", 77.0}}), 1), "base 77");
  // Gemma scales its layers that read all, ModernBERT both kinds.
  const json scaling = {{"rope_scaling", {{"rope_type", "linear"}, {"factor", 8.0}}}};
  EXPECT_EQ(base(Changed(Gemma(), scaling)), "base 1000000, linear scaling by 8");
  EXPECT_EQ(base(Changed(Gemma(), scaling), 1), "base 10000");
  EXPECT_EQ(base(Changed(ModernBert(), scaling), 1), "base 10000, linear scaling by 8");
}

}  // namespace
}  // namespace tandem::weights
