#include "core/output/reference.hpp"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/core/output/sample_run.hpp"

namespace lockstep::reference_test {
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
  for (std::size_t begin = 0; (begin = page.find("`/", begin)) != std::string::npos;) {
    const std::size_t end = page.find('`', ++begin);
    paths.push_back(page.substr(begin, end - begin));
    begin = end;
  }
  return paths;
}

bool matches(const std::string& path, std::string pattern) {
  for (std::size_t open; (open = pattern.find('<')) != std::string::npos;) {
    pattern.replace(open, pattern.find('>', open) - open + 1, "*");
  }
  return ::fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0;
}

TEST(OutputPage, NamesEveryPathOfAFile) {
  const TemporaryFile file("page");
  SampleRun run(file.path());
  run.epoch(1);
  run.finish();
  const std::vector<std::string> paths = paths_of(sample_page());
  for (const h5::Object& object : h5::File::open_to_read(file.path()).objects()) {
    if (!object.is_dataset) continue;
    EXPECT_TRUE(std::any_of(paths.begin(), paths.end(),
                            [&](const std::string& path) { return matches(object.path, path); }))
        << object.path << " is not in the page";
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
}  // namespace lockstep::reference_test
