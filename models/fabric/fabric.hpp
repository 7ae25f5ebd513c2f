/// Links between the GPUs of a machine.
///
/// At a switch each GPU has one link out, for all others, and one link in; with direct links each
/// pair has its own.  GPUs without a link do not reach each other: no traffic goes through a third
/// GPU.
/// Source: design of the project; the rates: nvbandwidth, Tartan.
#pragma once

#include <cstdint>
#include <vector>

#include "models/fabric/fabric_parameters.hpp"

namespace lockstep {

class Fabric {
 public:
  /// Reads `fabric:` of a scenario with `gpus` GPUs.  Throws UserError for a GPU that does not
  /// exist and for a pair that is named twice.  `all`: number of GPUs including those without
  /// links.
  Fabric(const Node& fabric, std::size_t gpus, std::size_t all);
  Fabric(const Node& fabric, std::size_t gpus) : Fabric(fabric, gpus, gpus) {}

  const FabricParameters& parameters() const { return parameters_; }
  bool is_switch() const { return parameters_.kind == FabricKind::crossed; }
  bool has_way(std::uint32_t from, std::uint32_t to) const { return links(from, to) > 0; }
  /// Returns the number of NVLinks that a GPU has.
  std::uint32_t links_of(std::uint32_t gpu) const;
  /// Returns the bytes per second from one GPU to another, headers included.
  double rate(std::uint32_t from, std::uint32_t to) const {
    return parameters_.rate.bytes_per_second() * links(from, to);
  }

 private:
  std::uint32_t links(std::uint32_t from, std::uint32_t to) const {
    return links_[from * gpus_ + to];
  }
  void read_pairs(const Node& pairs, std::size_t gpus);

  FabricParameters parameters_;
  std::size_t gpus_;
  std::vector<std::uint32_t> links_;  ///< link between each pair of GPUs
};

}  // namespace lockstep
