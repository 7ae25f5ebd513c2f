/// `lockstep predict`: what a run with --profile tells about more ranks and threads.
#include <fmt/format.h>

#include <cstdio>

#include "core/error/error.hpp"
#include "core/output/hdf5.hpp"
#include "jobs/options.hpp"
#include "jobs/profile/largest_costs.hpp"
#include "jobs/profile/speedup.hpp"

namespace lockstep {
namespace {

template <class Row>
std::vector<Row> read_profile(const h5::File& file) {
  if (!file.has(table_schema_of<Row>().path)) {
    throw UserError(file.path(), "holds no profile",
                    "record one with `lockstep run SCENARIO --profile`");
  }
  return read_table<Row>(file);
}

std::string line_of(const Prediction& prediction) {
  return fmt::format("{:>8}{:>8}{:>9}{:>10.2f}   {}\n", prediction.ranks * prediction.threads,
                     prediction.ranks, prediction.threads, prediction.speedup, prediction.limit);
}

}  // namespace

int predict_command(const CommandLine& line) {
  const h5::File file = h5::File::open_to_read(line.first_file);
  const auto components = read_profile<ComponentCostRow>(file);
  const auto ranks = read_profile<RankRow>(file);
  if (ranks.size() != 1) {
    throw UserError(line.first_file, fmt::format("was recorded on {} ranks", ranks.size()),
                    "record a profile on one, which sees all components");
  }
  std::string text = largest_costs_text(components, ranks);
  text += fmt::format("\n{:>8}{:>8}{:>9}{:>10}   {}\n", "workers", "ranks", "threads", "speed-up",
                      "limited by");
  const SpeedupModel model(components, read_profile<WindowCostRow>(file), ranks);
  for (int workers = 2; workers <= most_workers; workers *= 2) {
    text += line_of(model.predict(1, workers));
    if (workers > line.threads && line.threads > 1)
      text += line_of(model.predict(workers / line.threads, line.threads));
    text += line_of(model.predict(workers, 1));
  }
  std::fputs(text.c_str(), stdout);
  return exit_done;
}

}  // namespace lockstep
