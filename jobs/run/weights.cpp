#include "jobs/run/weights.hpp"

#include "core/error/error.hpp"
#include "core/output/hdf5.hpp"
#include "jobs/tables.hpp"

namespace lockstep {

namespace {

constexpr const char* advice = "record one with `lockstep run SCENARIO --profile`";

std::vector<ComponentCostRow> read_profile(const std::string& file) {
  const h5::File input = h5::File::open_to_read(file);
  if (!input.has(table_schema_of<ComponentCostRow>().path))
    throw UserError(file, "holds no profile", advice);
  return read_table<ComponentCostRow>(input);
}

}  // namespace

std::vector<double> read_weights(const std::string& file, const Graph& graph) {
  std::vector<double> weights;
  if (file.empty()) return weights;
  const std::vector<ComponentCostRow> rows = read_profile(file);
  const std::string other = "the profile is of another machine: ";
  if (rows.size() != graph.nodes().size()) {
    throw UserError(file,
                    other + "it has " + std::to_string(rows.size()) + " components, this one " +
                        std::to_string(graph.nodes().size()),
                    advice);
  }
  weights.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string name = graph.name(ComponentId{static_cast<std::uint32_t>(i)});
    if (rows[i].component != name) {
      throw UserError(file, other + rows[i].component + " stands there in place of " + name,
                      advice);
    }
    weights.push_back(static_cast<double>(rows[i].nanoseconds));
  }
  return weights;
}

}  // namespace lockstep
