#include "models/host/printed_lines.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "core/checkpoint/archive.hpp"

namespace lockstep::printed_lines_test {
namespace {

std::vector<Tenant> tenants(std::initializer_list<const char*> names) {
  std::vector<Tenant> all;
  for (const char* name : names) all.emplace_back().name = name;
  return all;
}

struct Screen {
  std::string text;
  PrintedLines::Sink sink() {
    return [this](std::string_view line) { text += "(" + std::string(line) + ")"; };
  }
};

TEST(PrintedLines, WholeLinesArePassedOnAtOnce) {
  Screen screen;
  PrintedLines lines(tenants({"alone"}), screen.sink());
  lines.add(0, "one\ntwo\n");
  EXPECT_EQ(screen.text, "(one\n)(two\n)");
}

TEST(PrintedLines, ALineInPartsIsPassedOnWhenItEnds) {
  Screen screen;
  PrintedLines lines(tenants({"alone"}), screen.sink());
  lines.add(0, "one ");
  EXPECT_EQ(screen.text, "");
  lines.add(0, "line\nnext");
  EXPECT_EQ(screen.text, "(one line\n)");
}

TEST(PrintedLines, TheEndOfATenantEndsItsLine) {
  Screen screen;
  PrintedLines lines(tenants({"alone"}), screen.sink());
  lines.add(0, "open");
  lines.end(0);
  lines.end(0);
  EXPECT_EQ(screen.text, "(open\n)");
}

TEST(PrintedLines, SeveralTenantsAreNamedAndTheirLinesNotMixed) {
  Screen screen;
  PrintedLines lines(tenants({"left", "right"}), screen.sink());
  lines.add(0, "a");
  lines.add(1, "b\n");
  lines.add(0, "c\n");
  EXPECT_EQ(screen.text, "(right: b\n)(left: ac\n)");
}

TEST(PrintedLines, WithNobodyToShowThemLinesAreForgotten) {
  PrintedLines lines(tenants({"alone"}), {});
  lines.add(0, "one\n");
}

TEST(PrintedLines, RestoredTheyKnowHowALineBegan) {
  Screen screen;
  std::stringstream stream;
  PrintedLines before(tenants({"alone"}), screen.sink());
  before.add(0, "one ");
  Archive saving = Archive::saving(stream);
  before.serialize(saving);
  PrintedLines after(tenants({"alone"}), screen.sink());
  Archive restoring = Archive::restoring(stream);
  after.serialize(restoring);
  after.add(0, "line\n");
  EXPECT_EQ(screen.text, "(one line\n)");
}

}  // namespace
}  // namespace lockstep::printed_lines_test
