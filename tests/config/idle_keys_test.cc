// Keys that are set and do nothing in their recipe.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/files/files.h"
#include "config/recipe/recipe_text.h"
#include "config/test_catalogue.h"
#include "support/temporary_folder.h"

namespace tandem::config {
namespace {

// A line that sets the key at `path` to its value in a default recipe, or to one that it can have.
std::string LineOf(const RecipeKey& key) {
  static const std::map<std::string, std::string> kValues = {
      {"model.document_base", "\"m\""},
      {"model.projection", "8"},
      {"model.layers", "2"},
      {"model.pooling", "\"max\""},
      {"model.include_prompt", "false"},
      {"model.max_query_tokens", "8"},
      {"model.max_document_tokens", "8"},
      {"model.query_prompt", "\"q\""},
      {"model.document_prompt", "\"d\""},
      {"model.dropout", "0.1"},
      {"model.is_causal", "false"},
      {"model.dimensions", "[8, 4]"},
      {"model.dimension_weights", "[1, 0.5]"},
      {"model.freeze", "['layers.0']"},
      {"model.adapter", "'a'"},
      {"data.grade_scale", "[0, 2]"},
      {"data.binarize_at", "1"},
      {"data.minimum_grade", "1"},
      {"data.labels", "['up=1', 'down=0']"},
      {"data.ignore_columns", "['source']"},
      {"data.masks.false_negative_score", "1"},
      {"data.masks.false_negative_absolute_margin", "1"},
      {"data.masks.false_negative_relative_margin", "1"},
      {"data.masks.same_tower_score", "0.9"},
      {"train.batch_tokens", "512"},
      {"train.steps", "3"},
      {"validation.data", "\"v\""},
      {"validation.query_prompt", "\"q\""},
      {"validation.document_prompt", "\"d\""},
      {"validation.holdout", "5"},
      {"validation.report", "['map']"},
      {"validation.pool", "100"},
      {"objective.bias", "1"}};
  const std::string value = FormatValue(key.value);
  if (!value.empty()) return fmt::format("{} = {}\n", key.path(), value);
  const auto found = kValues.find(key.path());
  return fmt::format("{} = {}\n", key.path(), found == kValues.end() ? "1" : found->second);
}

// What a recipe holds besides kLeast where the key does nothing, and where it does something. Keys
// that always do something have `idle` null.
struct Use {
  const char* idle = nullptr;
  const char* used = "";
};

class IdleKey : public testing::Test {
 protected:
  IdleKey() { WriteFileAtomically(folder_.path() / "lines.jsonl", ""); }

  // "LINES" in a recipe stands for a file, "FOLDER" for a folder.
  std::string Filled(std::string text) const {
    for (const auto& [word, path] : {std::pair("LINES", folder_.path() / "lines.jsonl"),
                                     std::pair("FOLDER", folder_.path())}) {
      for (size_t at = text.find(word); at != std::string::npos; at = text.find(word)) {
        text.replace(at, std::string_view(word).size(), path.native());
      }
    }
    return text;
  }

  // Every key of a recipe and how it is used. A new key fails EveryKey until it stands here, so
  // that whoever adds it decides when it does something.
  const std::map<std::string, Use> kUses = {
      {"seed", {}},
      {"threads", {}},
      {"precision", {}},
      {"device", {}},
      {"output", {}},
      {"model.base", {}},
      {"model.towers", {}},
      {"model.document_base", {"", "model.towers = 'separate'"}},
      {"model.projection", {}},
      {"model.layers", {}},
      {"model.reinitialize_layers", {}},
      {"model.head", {}},
      {"model.pooling", {}},
      {"model.include_prompt", {}},
      {"model.max_query_tokens", {}},
      {"model.max_document_tokens", {}},
      {"model.query_prompt", {}},
      {"model.document_prompt", {}},
      {"model.dropout", {}},
      {"model.is_causal", {}},
      {"model.dimensions", {}},
      {"model.dimension_weights", {"", "model.dimensions = [8, 4]"}},
      {"model.train", {}},
      {"model.freeze", {}},
      {"model.adapter", {"", "model.train = 'lora'"}},
      {"lora.rank", {"model.adapter = 'a'\nmodel.train = 'lora'", "model.train = 'lora'"}},
      {"lora.alpha", {"", "model.train = 'lora'"}},
      {"lora.dropout", {"", "model.train = 'lora'"}},
      {"lora.target_modules", {"", "model.train = 'lora'"}},
      {"lora.rslora", {"", "model.train = 'lora'"}},
      {"data.train", {"data.source = [{path = 'd'}]", ""}},
      {"data.format", {"data.source = [{path = 'd'}]", ""}},
      {"data.split", {"data.train = 'LINES'", "data.train = 'FOLDER'"}},
      {"data.positive_grade", {"data.binarize_at = 1", ""}},
      {"data.negatives", {}},
      {"data.scores", {"data.train = 'FOLDER'", "data.train = 'LINES'"}},
      {"data.grade_scale", {}},
      {"data.binarize_at", {}},
      {"data.minimum_grade", {}},
      {"data.cut_off", {"", "data.minimum_grade = 1"}},
      {"data.labels", {"data.train = 'FOLDER'", "data.train = 'LINES'"}},
      {"data.ignore_columns", {"data.train = 'FOLDER'", "data.train = 'LINES'"}},
      {"data.ids", {"data.train = 'FOLDER'", "data.train = 'LINES'"}},
      {"data.swap_labels", {"objective.name = 'taught'", ""}},
      {"data.limit", {}},
      {"data.flip_labels", {"objective.name = 'taught'", ""}},
      {"data.mixture",
       {"data.source = [{path = 'd'}]", "data.source = [{path = 'd'}, {path = 'e'}]"}},
      {"data.masks.copies", {"data.masks.known_positives = false", ""}},
      {"data.masks.known_positives", {"objective.name = 'taught'", ""}},
      {"data.masks.same_query", {"", "sampling.no_duplicates = false"}},
      {"data.masks.query_text", {"objective.name = 'taught'", ""}},
      {"data.masks.in_batch", {"objective.name = 'taught'", ""}},
      {"data.masks.false_negative_score", {"objective.name = 'taught'", ""}},
      {"data.masks.false_negative_absolute_margin", {"objective.name = 'taught'", ""}},
      {"data.masks.same_tower_score", {"objective.name = 'taught'", ""}},
      {"data.masks.false_negative_relative_margin", {"objective.name = 'taught'", ""}},
      {"sampling.name", {}},
      {"sampling.no_duplicates", {}},
      {"sampling.by_task", {"", "data.source = [{path = 'd'}, {path = 'e'}]"}},
      {"sampling.similar_lengths", {}},
      {"mining.every", {}},
      {"mining.range", {"", "mining.every = 3"}},
      {"mining.negatives", {"", "mining.every = 3"}},
      {"mining.absolute_margin", {"", "mining.every = 3"}},
      {"mining.relative_margin", {"", "mining.every = 3"}},
      {"mining.random", {"", "mining.every = 3"}},
      {"mining.memory", {"", "mining.every = 3"}},
      {"objective.name", {}},
      {"objective.temperature", {}},
      {"objective.bias", {}},
      {"objective.count", {}},
      {"objective.strict", {}},
      {"objective.shape", {}},
      {"objective.corner_radius", {"", "objective.shape = 'square'"}},
      {"optimizer.name", {}},
      {"optimizer.momentum", {}},
      {"optimizer.nesterov", {}},
      {"optimizer.learning_rate", {}},
      {"optimizer.learning_rate_scaling", {}},
      {"optimizer.reference_batch", {"", "optimizer.learning_rate_scaling = 'sqrt_batch'"}},
      {"optimizer.clip", {}},
      {"schedule.name", {}},
      {"schedule.warmup", {}},
      {"train.batch", {}},
      {"train.batch_tokens", {}},
      {"train.epochs", {}},
      {"train.steps", {}},
      {"train.accumulate", {}},
      {"train.chunk_tokens", {}},
      {"train.checkpoint_every", {}},
      {"train.keep_checkpoints", {}},
      {"train.reduce", {}},
      {"validation.data", {}},
      {"validation.split", {"validation.data = 'LINES'", "validation.data = 'FOLDER'"}},
      {"validation.query_prompt", {"validation.holdout = 5", "validation.data = 'v'"}},
      {"validation.document_prompt", {"", "validation.data = 'v'"}},
      {"validation.holdout", {}},
      {"validation.measure", {"", "validation.holdout = 5"}},
      {"validation.report",
       {"validation.holdout = 5\nvalidation.measure = 'loss'", "validation.holdout = 5"}},
      {"validation.pool", {"validation.source = [{path = 'v'}]", "validation.holdout = 5"}},
      {"validation.ignore_identical_ids",
       {"validation.holdout = 5\nvalidation.measure = 'loss'", "validation.holdout = 5"}},
      {"validation.every", {"", "validation.holdout = 5"}},
      {"validation.patience", {"", "validation.holdout = 5"}},
      {"logging.every", {}}};

  TemporaryFolder folder_;
};

// kLeast, then `rest`, in which keys of kLeast may be given again. A list of data sets takes the
// place of the one.
std::string With(const std::string& rest) {
  std::string text;
  std::istringstream lines(kLeast);
  for (std::string line; std::getline(lines, line);) {
    const std::string key = line.substr(0, line.find(' '));
    const bool listed = key == "data.train" && rest.starts_with("data.source ");
    const bool again = ("\n" + rest).find("\n" + key + " ") != std::string::npos;
    if (!listed && !again) text += line + "\n";
  }
  return text + rest;
}

TEST_F(IdleKey, EveryKeyIsRefusedWhereItDoesNothingAndTakenWhereItDoesSomething) {
  std::set<std::string> seen;
  for (const RecipeKey& key : RecipeKeys(ParseTest(kLeast).recipe, kTestCatalogues)) {
    const std::string path = key.path();
    SCOPED_TRACE(path);
    seen.insert(path);
    const auto found = kUses.find(path);
    ASSERT_NE(found, kUses.end()) << "say in kUses when the new key does something";
    const Use& use = found->second;
    EXPECT_TRUE(key.condition.empty() || use.idle != nullptr) << "it has a condition";
    EXPECT_EQ(ParseProblem(With(Filled(use.used) + "\n" + LineOf(key))), "");
    if (use.idle == nullptr) continue;
    const std::string problem = ParseProblem(With(Filled(use.idle) + "\n" + LineOf(key)));
    EXPECT_NE(problem.find(": " + path + " does nothing here: "), std::string::npos) << problem;
  }
  EXPECT_EQ(seen.size(), kUses.size()) << "kUses names a key that is none";
}

TEST_F(IdleKey, TheErrorSaysWhereAndWhatTheKeyNeeds) {
  EXPECT_EQ(ParseProblem(kLeast + "data.cut_off = \"random\"\n"),
            "r.toml:4:16: data.cut_off does nothing here: it needs data.minimum_grade");
  EXPECT_EQ(ParseProblem(kLeast, {"optimizer.reference_batch=8"}),
            "--set optimizer.reference_batch=8: optimizer.reference_batch does nothing here: it "
            "needs optimizer.learning_rate_scaling = \"sqrt_batch\"");
  EXPECT_EQ(ParseProblem(kLeast + "data.masks.known_positives = true\n", {"objective.name=taught"}),
            "");
  EXPECT_EQ(ParseProblem(With("objective.name = 'taught'\ndata.masks.known_positives = true\n")),
            "r.toml:4:30: data.masks.known_positives does nothing here: objective taught masks "
            "nothing");
}

TEST_F(IdleKey, AnotherMistakeComesFirst) {
  EXPECT_EQ(ParseProblem(kLeast + "optimizer.reference_batch = 8\n"
                                  "optimizer.learning_rate_scalin = \"sqrt_batch\"\n"),
            "r.toml:5:11: optimizer.learning_rate_scalin is unknown for the optimizer adamw; did "
            "you mean learning_rate_scaling?");
}

TEST_F(IdleKey, OfTheFileIsDroppedWhereSetTakesItOutOfUse) {
  const std::string file =
      kLeast + "objective.shape = \"square\"\nobjective.corner_radius = 0.25\n";
  EXPECT_EQ(ParseProblem(file, {"objective.shape=round"}), "");
  EXPECT_EQ(ParseProblem(kLeast + "objective.corner_radius = 0.25\n", {"objective.shape=round"}),
            "r.toml:4:27: objective.corner_radius does nothing here: it needs shape = \"square\"");
  const std::string validated = kLeast + "validation.data = \"v\"\nvalidation.split = \"s\"\n";
  EXPECT_EQ(ParseProblem(validated, {"validation.holdout=5"}), "");
  EXPECT_EQ(ParseProblem(kLeast, {"validation.holdout=5", "validation.split=s"}),
            "--set validation.split=s: validation.split does nothing here: it needs a folder with "
            "judgements of several splits as validation.data");
}

TEST_F(IdleKey, IsLeftOutOfWhatARunKeeps) {
  const Recipe recipe = ParseTest(kLeast).recipe;
  const std::string text = FormatRecipe(recipe, kTestCatalogues);
  for (const char* line : {"cut_off", "reference_batch", "corner_radius", "same_query",
                           "[validation]", "patience", "document_base"}) {
    EXPECT_EQ(text.find(line), std::string::npos) << line;
  }
  EXPECT_NE(text.find("known_positives = true"), std::string::npos);
  const Recipe square = ParseTest(kLeast, {"objective.shape=square"}).recipe;
  EXPECT_NE(FormatRecipe(square, kTestCatalogues).find("corner_radius = 0.5"), std::string::npos);
}

TEST_F(IdleKey, IsJudgedByTheRecipeThatIsRunNotByShortenedPaths) {
  const Recipe recipe = ParseTest(With(Filled("data.train = 'LINES'\n"))).recipe;
  Recipe shown = recipe;
  shown.data.train = "lines.jsonl";
  const std::string text = FormatRecipe(shown, recipe, kTestCatalogues);
  EXPECT_NE(text.find("train = \"lines.jsonl\""), std::string::npos);
  EXPECT_EQ(text.find("split = "), std::string::npos);
}

// Older versions kept the keys of their runs like this.
TEST_F(IdleKey, OfAnOldRunIsAcceptedAndDoesNotMakeItAnotherRun) {
  const std::string old = kLeast +
                          "optimizer.reference_batch = 32\nvalidation.split = \"dev\"\n"
                          "validation.holdout = 5\nobjective.corner_radius = 0.75\n"
                          "data.binarize_at = 2\ndata.positive_grade = 2\n";
  EXPECT_NE(ParseProblem(old), "");
  const Recipe before = ParseRecipe(old, "old.toml", {}, kTestCatalogues, IdleKeys::kAccept).recipe;
  const Recipe after = ParseTest(kLeast + "validation.holdout = 5\ndata.binarize_at = 2\n").recipe;
  EXPECT_EQ(ChangedKeys(before, after, kTestCatalogues), std::vector<std::string>());
}

}  // namespace
}  // namespace tandem::config
