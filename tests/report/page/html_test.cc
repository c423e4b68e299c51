#include "report/page/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/utf8.h"

namespace tandem::report {
namespace {

TEST(EscapedText, LeavesNoCharacterThatBeginsMarkupOrEndsAnAttribute) {
  EXPECT_EQ(EscapedText("<script>alert(\"1\" & '2')</script>"),
            "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;");
}

TEST(CleanText, ReplacesWhatHidesOrReordersOtherText) {
  // U+202E turns the direction of what follows, U+2066 isolates it, U+0085 and U+0000 are controls.
  EXPECT_EQ(CleanText("a\xE2\x80\xAE"
                      "b\xE2\x81\xA6"
                      "c\xC2\x85"
                      "d" +
                      std::string(1, '\0') + "e\x1B[31m"),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD"
            "c\xEF\xBF\xBD"
            "d\xEF\xBF\xBD"
            "e\xEF\xBF\xBD[31m");
}

TEST(CleanText, KeepsWordsOfEveryScript) {
  const std::string text = "naïve مخطط 図表 👩‍🔬\n\tend";
  EXPECT_EQ(CleanText(text), text);
}

TEST(CleanText, MakesBytesThatAreNoUtf8Visible) {
  const std::string clean = CleanText("\xFF\xC3(\xED\xA0\x80");
  EXPECT_TRUE(IsUtf8(clean));
  EXPECT_THAT(clean, testing::HasSubstr("\xEF\xBF\xBD"));
  EXPECT_THAT(clean, testing::HasSubstr("("));
}

TEST(Html, ClosesElementsAndEscapesAttributes) {
  Html html;
  html.In("p", {{"title", "a\" onclick=\"b"}}, [&] {
    html.Text("1 < 2");
    html.Foreign("<b>");
    html.Void("br", {});
    html.Add({"<i>ours</i>"});
  });
  EXPECT_EQ(html.bytes(),
            "<p title=\"a&quot; onclick=&quot;b\">1 &lt; 2<bdi>&lt;b&gt;</bdi><br><i>ours</i></p>");
}

}  // namespace
}  // namespace tandem::report
