/// `lockstep describe`: what can be found in an output file.
#include "jobs/command_line/describe_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/parameters/suggest.hpp"
#include "jobs/docs/output_contents.hpp"
#include "jobs/observe/metric.hpp"

namespace lockstep {
namespace {

struct Line {
  std::string path, unit, doc;
};

std::vector<Line> all_lines() {
  std::vector<Line> lines;
  const OutputContents contents = output_contents();
  for (const KindStatistics& kind : contents.kinds)
    for (const StatisticsField& field : kind.schema->fields())
      lines.push_back({"/stats/" + kind.name + "/" + field.name, field.unit, field.doc});
  for (const OutputValue& delay : contents.delays)
    lines.push_back({"/interference/" + delay.name, delay.unit, delay.doc});
  for (const TableSchema* table : contents.tables)
    for (const TableColumn& column : table->columns)
      lines.push_back({table->path + " " + column.name, column.unit, column.doc});
  for (const Metric& metric : metrics())
    lines.push_back({"metric " + metric.name, metric.unit,
                     metric.title + ", in tables: " + metric.short_title});
  return lines;
}

}  // namespace

std::string describe_output(const std::string& word) {
  std::vector<Line> lines = all_lines();
  std::erase_if(lines,
                [&](const Line& line) { return !has_word(line.path + ' ' + line.doc, word); });
  std::size_t path = 0, unit = 0;
  for (const Line& line : lines) {
    path = std::max(path, line.path.size());
    unit = std::max(unit, line.unit.size());
  }
  std::string text;
  for (const Line& line : lines)
    text += fmt::format("{:<{}}  {:<{}}  {}\n", line.path, path, line.unit, unit, line.doc);
  return text;
}

}  // namespace lockstep
