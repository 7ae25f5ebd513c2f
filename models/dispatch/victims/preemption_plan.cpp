#include "models/dispatch/victims/preemption_plan.hpp"

#include <limits>
#include <string>
#include <vector>

namespace lockstep {

namespace {

Technique technique_in(const Node& node) {
  const std::string& word = node.text();
  if (word == "flush") return Technique::flush;
  if (word == "switch") return Technique::save;
  if (word == "drain") return Technique::drain;
  throw node.error("'" + word + "' is no technique", "write flush, switch or drain");
}

std::uint32_t grid_in(const Node& node) {
  const std::uint64_t number = node.unsigned_integer();
  if (number > std::numeric_limits<std::uint32_t>::max())
    throw node.error("is no number of a kernel", "take one of /kernels");
  return static_cast<std::uint32_t>(number);
}

PreemptionPlan::Request request_in(const Node& entry) {
  PreemptionPlan::Request request;
  if (entry.has("others")) request.others = technique_in(entry.at("others"));
  if (!entry.has("blocks")) return request;
  for (const Node& block : entry.at("blocks").items()) {
    if (block.size() != 3)
      throw block.error("a block has three parts", "write [kernel, block, technique]");
    const std::pair which(grid_in(block.item(0)), block.item(1).unsigned_integer());
    if (!request.blocks.emplace(which, technique_in(block.item(2))).second)
      throw block.error("the block has a technique already", "leave one of them out");
  }
  return request;
}

}  // namespace

PreemptionPlan read_preemption_plan(const Node& document) {
  std::map<std::uint32_t, PreemptionPlan::Request> requests;
  for (const Node& entry : document.items()) {
    const std::uint32_t urgent = grid_in(entry.at("urgent"));
    if (!requests.emplace(urgent, request_in(entry)).second)
      throw entry.error("the kernel has an entry already", "leave one of them out");
    entry.reject_unknown_keys();
  }
  return PreemptionPlan(std::move(requests));
}

}  // namespace lockstep
