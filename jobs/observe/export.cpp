/// `lockstep export`: an output in the formats of other programs.
#include "jobs/observe/export.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "core/parameters/suggest.hpp"
#include "jobs/observe/written_file.hpp"
#include "jobs/options.hpp"
#include "jobs/tables.hpp"

namespace lockstep {
namespace {

std::vector<std::string> known_tables() {
  std::vector<std::string> names;
  for (const TableSchema* schema :
       {&table_schema_of<TenantRow>(), &table_schema_of<KernelRow>(), &table_schema_of<FaultRow>(),
        &table_schema_of<BlockRow>(), &table_schema_of<ArrivalRow>(),
        &table_schema_of<PreemptedBlockRow>(), &table_schema_of<ComponentCostRow>(),
        &table_schema_of<WindowCostRow>(), &table_schema_of<WindowTimesRow>(),
        &table_schema_of<RankRow>(), &table_schema_of<SpeedupRow>()})
    names.push_back(schema->path.substr(1));
  return names;
}

std::string how_to_record(const std::string& table) {
  if (table == "faults") return "run with --set simulation.record_faults=true";
  if (table == "thread_blocks") return "run with --set simulation.record_blocks=true";
  return "run with --profile";
}

}  // namespace

void require_table(const ObservedRun& run, const std::string& table) {
  if (run.file().has("/" + table)) return;
  const std::vector<std::string> known = known_tables();
  const std::string path = run.file().path();
  if (std::find(known.begin(), known.end(), table) == known.end())
    throw UserError("--table " + table, "there is no such table", suggest(table, known));
  if (!run.is_finished()) throw UserError(path, "has no /" + table, "its run has not finished");
  throw UserError(path, "has no /" + table + ", which was not recorded", how_to_record(table));
}

int export_command(const CommandLine& line) {
  const ObservedRun run(line.first_file);
  const bool is_csv = line.format == "csv";
  if (!line.table.empty()) require_table(run, line.table);
  const std::string beside = name_beside(line.first_file, is_csv ? ".csv" : ".perfetto.json");
  const std::string& output = line.output.empty() ? beside : line.output;
  (is_csv ? export_csv : export_perfetto)(run, line.table, output);
  return exit_done;
}

}  // namespace lockstep
