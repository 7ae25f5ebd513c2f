#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/workload/content/content.hpp"
#include "models/workload/scenario.hpp"

namespace lockstep {

/// Initial contents of the buffers of a GPU's tenants, each made when it is first needed; an
/// InitialBytes (models/noc/copy_stretch.hpp).
class InitialContents {
 public:
  /// `tenants` outlives this object.
  explicit InitialContents(const std::vector<Tenant>& tenants);

  void operator()(std::uint16_t tenant, std::uint32_t number, std::uint64_t offset,
                  std::span<std::byte> bytes);

 private:
  struct Made {
    bool is_made = false;
    std::shared_ptr<const Content> content;  ///< none: zeros
  };
  const std::vector<Tenant>* tenants_;
  std::vector<std::vector<Made>> made_;  ///< contents by tenant and buffer
};

}  // namespace lockstep
