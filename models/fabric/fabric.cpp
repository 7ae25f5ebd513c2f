#include "models/fabric/fabric.hpp"

#include <string>

namespace lockstep {
namespace {

/// An entry of `fabric.pairs`.
struct PairParameters {
  std::vector<std::uint32_t> gpus;
  std::uint32_t links = 1;

  static auto schema() {
    using P = PairParameters;
    return parameters<P>()
        .required("gpus", &P::gpus, range(0, 65535), "the two of them, by their numbers", "GPUs")
        .field("links", &P::links, 1, range(1, 64), "between them; their rates add up", "links");
  }
};

}  // namespace

Fabric::Fabric(const Node& fabric, std::size_t gpus, std::size_t all)
    : parameters_(read_parameters<FabricParameters>(fabric)), gpus_(all), links_(all * all) {
  if (gpus < 2)
    throw fabric.error("links several GPUs, and the machine has one",
                       "leave it out, or add gpus: 2");
  if (parameters_.pairs.exists() && !is_switch()) {
    read_pairs(parameters_.pairs, gpus);
    return;
  }
  for (std::size_t from = 0; from < gpus; ++from)
    for (std::size_t to = 0; to < gpus; ++to) links_[from * gpus_ + to] = from != to;
}

std::uint32_t Fabric::links_of(std::uint32_t gpu) const {
  if (is_switch()) return parameters_.links;
  std::uint32_t all = 0;
  for (std::uint32_t to = 0; to < gpus_; ++to) all += links(gpu, to);
  return all;
}

void Fabric::read_pairs(const Node& pairs, std::size_t gpus) {
  for (const Node& node : pairs.items()) {
    const auto pair = read_parameters<PairParameters>(node);
    const Node numbers = node.at("gpus");
    if (pair.gpus.size() != 2 || pair.gpus[0] == pair.gpus[1])
      throw numbers.error("a link joins two GPUs", "write gpus: [0, 1]");
    for (std::size_t i = 0; i < 2; ++i)
      if (pair.gpus[i] >= gpus)
        throw numbers.item(i).error("GPU " + std::to_string(pair.gpus[i]) +
                                        " is not there: the machine has " + std::to_string(gpus),
                                    "they are numbered from 0; raise gpus or leave it out");
    const std::size_t there = pair.gpus[0] * gpus_ + pair.gpus[1];
    const std::size_t back = pair.gpus[1] * gpus_ + pair.gpus[0];
    if (links_[there] != 0)
      throw node.error("GPUs " + std::to_string(pair.gpus[0]) + " and " +
                           std::to_string(pair.gpus[1]) + " are named twice",
                       "name a pair once, with the number of its links");
    links_[there] = links_[back] = pair.links;
  }
}

}  // namespace lockstep
