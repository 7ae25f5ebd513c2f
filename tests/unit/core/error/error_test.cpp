#include "core/error/error.hpp"

#include <gtest/gtest.h>

namespace lockstep::error_test {
namespace {

std::string text(const std::string& where, const std::string& what, const std::string& advice) {
  return UserError(where, what, advice).what();
}

TEST(UserErrors, SayWhereWhatAndWhatToDo) {
  EXPECT_EQ(text("a.yaml:3:1", "is wrong", "write it right"),
            "a.yaml:3:1: is wrong - write it right");
  EXPECT_EQ(text("", "is wrong", "write it right"), "is wrong - write it right");
}

TEST(UserErrors, AreOneLineWhateverTheyQuote) {
  EXPECT_EQ(text("a", "key \"x\n\x1b[31m\"", "b"), "a: key \"x\\x0a\\x1b[31m\" - b");
}

TEST(Printable, ControlCharactersAreShownAndOthersStay) {
  EXPECT_EQ(printable("a\x1b[31m\n\x7f"), "a\\x1b[31m\\x0a\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "1m"),
            "\\xc2\\x9b1m")
      << "a control sequence begins in UTF-8, too";
  EXPECT_EQ(printable("K\xc3\xb6nig \xe2\x82\xac \xc2\xb5"), "K\xc3\xb6nig \xe2\x82\xac \xc2\xb5");
  EXPECT_EQ(printable_lines("a\nb\tc"), "a\nb\\x09c");
}

TEST(UserErrors, QuoteOnlyTheEndsOfWhatIsVeryLong) {
  const std::string brackets(100'000, '(');
  const std::string line = text("a.yaml:3:1", "cannot evaluate " + brackets + "1", "use fewer");
  EXPECT_LT(line.size(), 1100u);
  EXPECT_TRUE(line.starts_with("a.yaml:3:1: cannot evaluate (((")) << line;
  EXPECT_TRUE(line.ends_with("(((1 - use fewer")) << line;
}

}  // namespace
}  // namespace lockstep::error_test
