#include "core/output/reference.hpp"

#include <gtest/gtest.h>

#include <regex>

#include "tests/unit/core/output/sample_run.hpp"

namespace lockstep {
namespace {

using namespace sample;

std::string sample_page() {
  return output_page({Machine::layout().kinds(),
                      {&table_schema_of<KernelRow>()},
                      {{"end", "fs", "simulated end"}},
                      {{"wall_seconds", "s", "of the simulation loop"}}});
}

/// The paths that a page names, as patterns: `<kind>` stands for any word.
std::vector<std::string> paths_of(const std::string& page) {
  std::vector<std::string> paths;
  const std::regex code("`(/[^`]*)`");
  for (std::sregex_iterator it(page.begin(), page.end(), code), end; it != end; ++it) {
    paths.push_back((*it)[1].str());
  }
  return paths;
}

TEST(OutputPage, NamesEveryPathOfAFile) {
  const TemporaryFile file("page");
  SampleRun run(file.path());
  run.epoch(1);
  run.finish();
  std::vector<std::regex> patterns;
  for (const std::string& path : paths_of(sample_page())) {
    patterns.emplace_back(std::regex_replace(path, std::regex("<[a-z]+>"), "[a-z0-9_]+"));
  }
  for (const h5::Object& object : h5::File::open_to_read(file.path()).objects()) {
    if (!object.is_dataset) continue;
    const bool named = std::any_of(
        patterns.begin(), patterns.end(),
        [&](const std::regex& pattern) { return std::regex_match(object.path, pattern); });
    EXPECT_TRUE(named) << object.path << " is not in the page";
  }
}

TEST(OutputPage, NamesNoPathThatAFileLacks) {
  const TemporaryFile file("page");
  SampleRun run(file.path());
  run.epoch(1);
  run.finish();
  const h5::File read = h5::File::open_to_read(file.path());
  for (const std::string& path : paths_of(sample_page())) {
    if (path.find('<') != std::string::npos) continue;
    EXPECT_TRUE(read.has(path)) << path;
  }
}

TEST(OutputPage, SaysShapeUnitAndMeaning) {
  const std::string page = sample_page();
  for (const char* line :
       {"| `/stats/sm/stalls` | [E, instances, 2] | counter | cycles | of the issue: memory, "
        "barrier |",
        "| `/stats/partition/delay` | [E, instances, 4 bins] | counter | cycles | in the queue |",
        "| `/stats/partition/share` | [E, instances] | gauge | ratio | of the data bus |",
        "| start | fs | when its first block started |", "| `/final/end` | fs | simulated end |"}) {
    EXPECT_NE(page.find(line), std::string::npos) << line << "\n" << page;
  }
}

}  // namespace
}  // namespace lockstep
