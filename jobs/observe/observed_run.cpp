#include "jobs/observe/observed_run.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "core/parameters/document.hpp"

namespace lockstep {
namespace {

bool says_it_is_a_run(const h5::File& file) {
  return file.text_attribute("/", "file type") == "lockstep run";
}

[[noreturn]] void damaged(const h5::File& file, const std::string& path) {
  throw UserError(file.path(), path + " has another shape", "it may be damaged");
}

}  // namespace

std::vector<std::uint64_t> read_words(const h5::File& file, const std::string& path,
                                      EpochRange rows) {
  return file.words(path, rows.first, rows.count);
}

ObservedRun::ObservedRun(const std::string& path) : file_(h5::File::open_to_read(path)) {
  if (!says_it_is_a_run(file_) || !file_.has("/epochs/time") || !file_.has("/config"))
    throw UserError(path, "is no output of a run", "name a file that `lockstep run` wrote");
  tenants_ = file_.texts("/axes/tenants");
  const h5::Shape epochs = file_.shape("/epochs/time");
  if (epochs.size() != 1) damaged(file_, "/epochs/time");
  for (const std::uint64_t time : read_words(file_, "/epochs/time", {0, epochs[0]}))
    times_.push_back(static_cast<std::int64_t>(time));
  configuration_text_ = file_.text("/config");
  configuration_ = parse_document(configuration_text_, path + ":/config");
  core_hertz_ =
      static_cast<double>(configuration_.at("gpu").at("sm").at("clock").frequency().hertz());
  is_finished_ = file_.has("/final/end");
  end_ = times_.empty() ? 0 : times_.back();
  if (is_finished_) end_ = static_cast<std::int64_t>(file_.word("/final/end"));
}

std::vector<std::uint64_t> ObservedRun::by_tenant(const std::string& counter,
                                                  EpochRange epochs) const {
  const std::string path = "/stats/" + counter;
  const h5::Shape shape = file_.shape(path);
  const std::size_t tenants = tenants_.size();
  if (shape.size() < 3 || shape[2] != tenants || tenants == 0) damaged(file_, path);
  std::size_t inner = 1;
  for (std::size_t axis = 3; axis < shape.size(); ++axis) inner *= shape[axis];
  const std::size_t row = shape[1] * tenants * inner;
  std::vector<std::uint64_t> sums(epochs.count * tenants);
  for_each_part(epochs, row, [&](EpochRange part) {
    const std::vector<std::uint64_t> words = read_words(file_, path, part);
    for (std::size_t i = 0; i < words.size(); ++i)
      sums[(part.first - epochs.first + i / row) * tenants + i / inner % tenants] += words[i];
  });
  return sums;
}

}  // namespace lockstep
