#include "jobs/observe/gpus_of_run.hpp"

#include <algorithm>

#include "core/parameters/node_data.hpp"

namespace lockstep {
namespace {

Node with_gpu(const Node& configuration, const Node& gpu) {
  auto data = std::make_shared<Node::Data>();
  data->kind = Node::Kind::map;
  data->position = configuration.data()->position;
  for (const auto& [key, value] : configuration.entries())
    if (key != "gpus") data->map.push_back({key, data->position, value});
  data->map.push_back({"gpu", gpu.data()->position, gpu});
  return Node(std::move(data));
}

std::string name_of(const Node& configuration) {
  return configuration.at("gpu").at("name").text();
}

}  // namespace

GpusOfRun::GpusOfRun(const Node& configuration) : several_(configuration.has("gpus")) {
  if (!several_) {
    configurations_.push_back(configuration);
    return;
  }
  for (const Node& gpu : configuration.at("gpus").items())
    configurations_.push_back(with_gpu(configuration, gpu));
  for (const Node& tenant : configuration.at("tenants").items()) {
    const Node gpu = tenant.at("gpu");
    gpu_of_tenant_.push_back(gpu.unsigned_integer());
    std::vector<std::size_t>& all = all_gpus_.emplace_back(1, gpu_of_tenant_.back());
    if (const Node several = tenant.find("gpus"); several.exists())
      for (const Node& number : several.items()) all.push_back(number.unsigned_integer());
    for (const std::size_t number : all)
      if (number >= count())
        throw gpu.error("names a GPU that is not there", "the file may be damaged");
  }
}

double GpusOfRun::core_hertz(std::size_t gpu) const {
  return static_cast<double>(configuration(gpu).at("gpu").at("sm").at("clock").frequency().hertz());
}

std::vector<std::size_t> GpusOfRun::tenants_on(std::size_t gpu) const {
  std::vector<std::size_t> tenants;
  for (std::size_t t = 0; t < gpu_of_tenant_.size(); ++t)
    if (std::find(all_gpus_[t].begin(), all_gpus_[t].end(), gpu) != all_gpus_[t].end())
      tenants.push_back(t);
  return tenants;
}

std::string GpusOfRun::prefix(std::size_t gpu) const {
  return several_ ? "gpu" + std::to_string(gpu) + "/" : "";
}

std::string GpusOfRun::title() const {
  std::string first = name_of(configurations_.front());
  const bool are_equal =
      std::all_of(configurations_.begin(), configurations_.end(),
                  [&](const Node& configuration) { return name_of(configuration) == first; });
  if (count() == 1) return first;
  if (are_equal) return std::to_string(count()) + " x " + first;
  std::string names;
  for (const Node& configuration : configurations_)
    names += (names.empty() ? "" : ", ") + name_of(configuration);
  return names;
}

}  // namespace lockstep
