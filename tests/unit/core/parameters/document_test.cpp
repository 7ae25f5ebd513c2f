#include "core/parameters/document.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/core/parameters/expect_error.hpp"

namespace lockstep::document_test {
namespace {

TEST(Document, NodesKnowLineAndColumn) {
  const Node root = parse_document("a: 1\nb:\n  - x\n  - {c: 7}\n", "f.yaml");
  EXPECT_EQ(root.at("a").where(), "f.yaml:1:4");
  EXPECT_EQ(root.at("b").item(1).at("c").where(), "f.yaml:4:9");
  EXPECT_EQ(root.at("b").item(1).at("c").path(), "b.1.c");
  EXPECT_EQ(root.where_key("b"), "f.yaml:2:1");
}

TEST(Document, EntriesKeepTheOrderOfTheFile) {
  const Node root = parse_document("zebra: 1\napple: 2\nmango: 3\n", "f.yaml");
  std::string order;
  for (const auto& [key, value] : root.entries()) order += key + value.text() + " ";
  EXPECT_EQ(order, "zebra1 apple2 mango3 ");
}

TEST(Document, MalformedYamlNamesItsPlace) {
  EXPECT_EQ(message_of([] { parse_document("a: [1, 2\nb: 3\n", "f.yaml"); }).substr(0, 12),
            "f.yaml:2:2: ");
  EXPECT_EQ(message_of([] { parse_document("", "f.yaml"); }),
            "f.yaml:1:1: the file is empty - it needs lines of the form key: value");
  EXPECT_NE(message_of([] {
              parse_document("a: 1\n---\nb: 2\n", "f.yaml");
            }).find("there is a second document"),
            std::string::npos);
}

TEST(Document, RepeatedKeyIsAnErrorThatNamesBothPlaces) {
  EXPECT_EQ(
      message_of([] { parse_document("a: 1\nb: 2\na: 3\n", "f.yaml"); }),
      "f.yaml:3:1: the key \"a\" appears twice - it stands at f.yaml:1:1 already; remove one");
}

TEST(Document, CommasInBracketsOfAnExpressionPartNothing) {
  const Node root = parse_document(
      "grid: [min(n, 4), max(1,min(n,2), 3), 5]\nb: {count: min(n,4), type: f32}\n", "f.yaml");
  ASSERT_EQ(root.at("grid").size(), 3u);
  EXPECT_EQ(root.at("grid").item(0).text(), "min(n, 4)");
  EXPECT_EQ(root.at("grid").item(1).text(), "max(1, min(n, 2), 3)");
  EXPECT_EQ(root.at("grid").item(2).text(), "5");
  EXPECT_EQ(root.at("b").at("count").text(), "min(n, 4)");
  EXPECT_EQ(root.at("b").at("type").text(), "f32");
}

TEST(Document, QuotedTextIsLeftAsItIs) {
  const Node root = parse_document("a: [\"f(x\", y]", "f.yaml");
  EXPECT_EQ(root.at("a").item(0).text(), "f(x");
  EXPECT_EQ(root.at("a").item(1).text(), "y");
}

TEST(Document, AliasIsACopy) {
  const Node root = parse_document("a: &x {n: 1}\nb: *x\n", "f.yaml");
  override_value(root, "b.n", parse_document("2", "g.yaml"));
  EXPECT_EQ(root.at("a").at("n").integer(), 1);
  EXPECT_EQ(root.at("b").at("n").integer(), 2);
}

TEST(Document, MissingFileNamesThePlaceThatNamedIt) {
  const Node root = parse_document("gpu: nowhere.yaml\n", "dir/s.yaml");
  EXPECT_EQ(
      message_of([&] { resolve_include(root.at("gpu")); }),
      "dir/s.yaml:1:6: cannot read \"dir/nowhere.yaml\": No such file or directory - file names "
      "are relative to the file that names them");
}

TEST(Document, UnknownKeySuggestsTheNearestThatWasAskedFor) {
  const Node root = parse_document("seed: 1\nepcoh: 10us\n", "f.yaml", "simulation");
  root.find("seed");
  root.find("epoch");
  EXPECT_EQ(message_of([&] { root.reject_unknown_keys(); }),
            "f.yaml:2:1: simulation.epcoh: unknown key \"epcoh\" - did you mean \"epoch\"? "
            "(epoch, seed)");
  root.find("epcoh");
  EXPECT_NO_THROW(root.reject_unknown_keys());
}

TEST(Document, ScalarsOfTheWrongTypeSayHowToWriteThem) {
  const Node root = parse_document("t: 45\nn: [1]\n", "f.yaml");
  EXPECT_EQ(message_of([&] { root.at("t").time(); }),
            "f.yaml:1:4: t: \"45\" has no unit - write it as 45us, 10ns or 1.5ms");
  EXPECT_EQ(message_of([&] { root.at("n").integer(); }),
            "f.yaml:2:4: n: is a list, not a single value - write one word or number");
  EXPECT_EQ(message_of([&] { root.at("x"); }), "f.yaml:1:1: \"x\" is missing - add it");
}

class Includes : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("lockstep_includes_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_ / "gpus");
    std::filesystem::create_directories(folder_ / "scenarios");
    write("gpus/big.yaml", "sm:\n  count: 80\n");
    write("scenarios/s.yaml",
          "gpu: ../gpus/big.yaml\ntenants:\n  - {name: graph, sms: 8}\n  - {name: dense, sms: 9}\n"
          "override: {gpu.sm.count: 16}\n");
    root_ = load_document((folder_ / "scenarios/s.yaml").string());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  std::filesystem::path folder_;
  Node root_;
};

TEST_F(Includes, FileNamesAreRelativeToTheFileThatNamesThem) {
  resolve_include_at(root_, "gpu");
  const Node count = root_.at("gpu").at("sm").at("count");
  EXPECT_EQ(count.integer(), 80);
  EXPECT_EQ(count.path(), "gpu.sm.count");
  EXPECT_EQ(count.where(), (folder_ / "gpus/big.yaml").string() + ":2:10");
}

TEST_F(Includes, OverrideReachesIntoTheIncludedFile) {
  apply_overrides(root_, root_.at("override"));
  EXPECT_EQ(root_.at("gpu").at("sm").at("count").integer(), 16);
  EXPECT_EQ(root_.at("gpu").at("sm").at("count").where(),
            (folder_ / "scenarios/s.yaml").string() + ":5:26");
}

TEST_F(Includes, SettingsSelectTenantsByNumberOrName) {
  apply_settings(root_, {"tenants.0.sms=1", "tenants.dense.sms=2", "new.deep.key={a: 1}"});
  EXPECT_EQ(root_.at("tenants").item(0).at("sms").integer(), 1);
  EXPECT_EQ(root_.at("tenants").item(1).at("sms").integer(), 2);
  EXPECT_EQ(root_.at("new").at("deep").at("key").at("a").integer(), 1);
  EXPECT_EQ(root_.at("tenants").item(1).at("sms").where(), "--set tenants.dense.sms=2");
}

TEST_F(Includes, SettingErrorsNameTheOption) {
  EXPECT_EQ(
      message_of([&] { apply_settings(root_, {"tenants.grahp.sms=1"}); }),
      "--set tenants.grahp.sms=1: tenants has no entry \"grahp\" (it has 2, numbered from 0) - "
      "did you mean \"graph\"? (graph, dense)");
  EXPECT_EQ(message_of([&] { apply_settings(root_, {"nothing"}); }),
            "--set nothing: is no key=value - write it as --set gpu.sm.count=16");
  EXPECT_EQ(message_of([&] { apply_settings(root_, {"a..b=1"}); }),
            "--set a..b=1: \"a..b\" is no key - write it as gpu.sm.count");
  EXPECT_EQ(message_of([&] { apply_settings(root_, {"tenants.0.sms.x=1"}); }),
            "--set tenants.0.sms.x=1: tenants.0.sms is no map, so it has no \"x\" - name a key "
            "that is there, or set all of tenants.0.sms");
}

}  // namespace
}  // namespace lockstep::document_test
