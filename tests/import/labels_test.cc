#include "import/grades/labels.h"

#include "import_test.h"

namespace tandem::import_data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

data::JsonField Text(std::string_view text) {
  return {.kind = data::JsonField::Kind::kString, .text = text};
}

TEST(Labels, AreNumbersAndThumbs) {
  Labels labels({});
  EXPECT_EQ(labels.Grade(Text(" 2 ")).grade, 2);
  EXPECT_EQ(labels.Grade(Text("0.5")).grade, 0.5);
  EXPECT_EQ(labels.Grade({.kind = data::JsonField::Kind::kNumber, .number = 3}).grade, 3);
  EXPECT_EQ(labels.Grade({.kind = data::JsonField::Kind::kBoolean, .number = 1}).grade, 1);
  EXPECT_EQ(labels.Grade(Text("Thumbs Up")).grade, 1);
  EXPECT_EQ(labels.Grade(Text("DOWN")).grade, 0);
  EXPECT_EQ(labels.Grade(Text("👎")).grade, 0);
  EXPECT_THAT(labels.thumbs(), ElementsAre(Pair("DOWN=0", 1), Pair("Thumbs Up=1", 1),
                                           Pair("true=1", 1), Pair("👎=0", 1)));
}

TEST(Labels, AreThoseThatTheUserNames) {
  Labels labels({{"E", 1}, {"I", 0}, {"4", 3}, {"", 0}});
  EXPECT_EQ(labels.Grade(Text("E ")).grade, 1);
  EXPECT_EQ(labels.Grade(Text("4.0")).grade, 3);
  EXPECT_EQ(labels.Grade(Text("")).grade, 0);
  EXPECT_EQ(labels.Grade(Text("up")).grade, std::nullopt);
  EXPECT_EQ(labels.Grade(Text("1")).grade, std::nullopt);
  EXPECT_THAT(labels.unknown(), ElementsAre("up", "1"));
}

TEST(Labels, WithoutAGradeSayWhy) {
  Labels labels({});
  EXPECT_EQ(labels.Grade(Text("")).problem, "has no label");
  EXPECT_EQ(labels.Grade({.kind = data::JsonField::Kind::kNull}).problem, "has no label");
  EXPECT_THAT(labels.Grade(Text("maybe")).problem,
              HasSubstr("the label \"maybe\" has no number; give it one: --labels maybe=1"));
  EXPECT_THAT(labels.Grade(Text("-1")).problem, HasSubstr("--labels -1=0"));
  EXPECT_THAT(labels.Grade({.kind = data::JsonField::Kind::kStrings}).problem,
              HasSubstr("the label is a list of strings"));
  EXPECT_THAT(labels.unknown(), ElementsAre("maybe", "-1"));
}

}  // namespace
}  // namespace tandem::import_data
