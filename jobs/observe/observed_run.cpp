#include "jobs/observe/observed_run.hpp"

#include <algorithm>
#include <numeric>

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
  gpus_.emplace(configuration_);
  if (gpus_->are_several() && gpus_->placed() != tenants_.size()) damaged(file_, "/axes/tenants");
  is_finished_ = file_.has("/final/end");
  end_ = times_.empty() ? 0 : times_.back();
  if (is_finished_) end_ = static_cast<std::int64_t>(file_.word("/final/end"));
}

std::vector<std::uint64_t> ObservedRun::by_tenant(const std::string& counter,
                                                  EpochRange epochs) const {
  std::vector<std::uint64_t> sums(epochs.count * tenants_.size());
  for (std::size_t gpu = 0; gpu < gpus_->count(); ++gpu) {
    const std::string path = "/stats/" + gpus_->prefix(gpu) + counter;
    // A GPU without tenants has no counters, and one without clusters has no hubs.
    const bool may_lack = gpus_->are_several() || !file_.has(path.substr(0, path.rfind('/')));
    if (!may_lack || file_.has(path)) add_by_tenant(path, epochs, tenants_on(gpu), sums);
  }
  return sums;
}

void ObservedRun::add_by_tenant(const std::string& path, EpochRange epochs,
                                const std::vector<std::size_t>& numbers,
                                std::vector<std::uint64_t>& sums) const {
  const h5::Shape shape = file_.shape(path);
  const std::size_t tenants = numbers.size();
  if (shape.size() < 3 || shape[2] != tenants || tenants == 0) damaged(file_, path);
  std::size_t inner = 1;
  for (std::size_t axis = 3; axis < shape.size(); ++axis) inner *= shape[axis];
  const std::size_t row = shape[1] * tenants * inner;
  for_each_part(epochs, row, [&](EpochRange part) {
    const std::vector<std::uint64_t> words = read_words(file_, path, part);
    for (std::size_t i = 0; i < words.size(); ++i)
      sums[(part.first - epochs.first + i / row) * tenants_.size() +
           numbers[i / inner % tenants]] += words[i];
  });
}

std::vector<std::size_t> ObservedRun::tenants_on(std::size_t gpu) const {
  if (gpus_->are_several()) return gpus_->tenants_on(gpu);
  std::vector<std::size_t> all(tenants_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::vector<std::string> ObservedRun::tenants_of(const std::string& counter) const {
  for (std::size_t gpu = 0; gpus_->are_several() && gpu < gpus_->count(); ++gpu) {
    if (!counter.starts_with(gpus_->prefix(gpu))) continue;
    std::vector<std::string> names;
    for (const std::size_t tenant : tenants_on(gpu)) names.push_back(tenants_[tenant]);
    return names;
  }
  return tenants_;
}

}  // namespace lockstep
