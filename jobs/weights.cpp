#include "jobs/weights.hpp"

#include <algorithm>
#include <cstring>

#include "core/error/error.hpp"
#include "core/output/hdf5.hpp"
#include "jobs/tables.hpp"

namespace lockstep {

namespace {

constexpr const char* advice = "record one with `lockstep run SCENARIO --profile`";

struct Recorded {
  std::string component;
  std::uint64_t nanoseconds = 0;
};

std::vector<Recorded> read_profile(const std::string& file) {
  const std::string& path = table_schema_of<ComponentCostRow>().path;
  const h5::File input = h5::File::open_to_read(file);
  if (!input.has(path)) throw UserError(file, "holds no profile", advice);
  const h5::ElementType type = input.type(path);
  const auto offset_of = [&](const char* name) {
    const auto member = std::find_if(type.members.begin(), type.members.end(),
                                     [&](const h5::Member& m) { return m.name == name; });
    if (member == type.members.end()) throw UserError(file, "holds no profile", advice);
    return member->offset;
  };
  const std::size_t name = offset_of("component"), cost = offset_of("nanoseconds");
  const h5::Shape shape = input.shape(path);
  const std::vector<std::byte> bytes = input.read(path, 0, shape.at(0));
  std::vector<Recorded> rows(shape.at(0));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto* row = reinterpret_cast<const char*>(&bytes[i * type.bytes]);
    rows[i].component.assign(row + name, strnlen(row + name, cost - name));
    std::memcpy(&rows[i].nanoseconds, row + cost, sizeof rows[i].nanoseconds);
  }
  return rows;
}

}  // namespace

std::vector<double> read_weights(const std::string& file, const Graph& graph) {
  std::vector<double> weights;
  if (file.empty()) return weights;
  const std::vector<Recorded> rows = read_profile(file);
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
