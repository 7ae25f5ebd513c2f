#include "models/gpu/peer_check.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "models/workload/recorded_program.hpp"

namespace lockstep {
namespace {

class PeerCheck {
 public:
  PeerCheck(const Tenant& tenant, const MachineParameters& machine)
      : tenant_(tenant), machine_(machine) {}

  void check(const std::vector<Step>& steps) const {
    for (const Step& step : steps) {
      if (step.kind == Step::Kind::peer_copy) check_copy(step);
      if (step.kind == Step::Kind::launch)
        for_each_buffer(step, [&](std::uint32_t name) {
          const Buffer& used = buffer(name);
          if (!used.lies_on(step.gpu))
            require_way(step, step.gpu, used.gpu,
                        "kernel " + step.kernel + " uses buffer " + used.name);
        });
      check(step.body);
    }
  }

  /// Checks copies of a recording. Accesses of its kernels are checked at run time.
  void check_recorded() const {
    for_each_recorded_peer_copy(tenant_.workload, [&](const Step& step) { check_copy(step); });
  }

 private:
  void check_copy(const Step& step) const {
    require_way(step, buffer(step.buffer).gpu, buffer(step.other).gpu,
                "buffer " + buffer(step.buffer).name + " is copied");
  }
  const Buffer& buffer(std::uint32_t name) const { return tenant_.workload.buffers[name]; }

  void require_way(const Step& step, std::uint32_t from, std::uint32_t to,
                   const std::string& what) const {
    const std::uint32_t one = tenant_.gpus[from], other = tenant_.gpus[to];
    if (machine_.fabric && machine_.fabric->has_way(one, other)) return;
    throw UserError(step.where,
                    what + ", and GPU " + std::to_string(one) + " has no way to GPU " +
                        std::to_string(other) +
                        (machine_.fabric ? " in fabric " + machine_.fabric->parameters().name : ""),
                    machine_.fabric ? "add the pair to fabric.pairs, choose other gpus, or copy "
                                      "through the host"
                                    : "give the scenario a fabric, as fabric: nvswitch2, or copy "
                                      "through the host");
  }

  const Tenant& tenant_;
  const MachineParameters& machine_;
};

}  // namespace

namespace {

/// Checks that all GPUs of a tenant reach each other if the peer policy is useless otherwise.
void check_shared_pages(const Tenant& tenant, const MachineParameters& machine) {
  const auto& buffers = tenant.workload.buffers;
  const bool shares = std::any_of(buffers.begin(), buffers.end(), [](const Buffer& buffer) {
    return buffer.memory == MemoryKind::managed;
  });
  const PolicyChoice& policy = machine.policies.peer_policy;
  if (!shares || !make_peer_policy(policy)->needs_ways()) return;
  for (const std::uint32_t one : tenant.gpus)
    for (const std::uint32_t other : tenant.gpus) {
      if (one == other || (machine.fabric && machine.fabric->has_way(one, other))) continue;
      throw UserError(tenant.gpus_node.where(),
                      "policies.peer_policy " + policy.name() + " maps pages of tenant " +
                          tenant.name + " on other GPUs, and GPU " + std::to_string(one) +
                          " has no way to GPU " + std::to_string(other),
                      machine.fabric
                          ? "add the pair to fabric.pairs, choose other gpus, or "
                            "peer_policy: migrate"
                          : "give the scenario a fabric, as fabric: nvswitch2, or choose "
                            "peer_policy: migrate");
    }
}

}  // namespace

void check_variables(const Tenant& tenant, const isa::Module& module) {
  if (tenant.members() < 2 || module.globals.empty()) return;
  throw UserError(tenant.workload.module_where,
                  "variable " + module.globals.front().name +
                      " of the module would be on each GPU " + "of tenant " + tenant.name,
                  "pass a buffer to the kernels, leave out printf, or name one GPU");
}

void check_peers(const Tenant& tenant, const MachineParameters& machine) {
  if (tenant.members() < 2) return;
  if (page_managers().factory(machine.policies.page_manager).needs != nullptr)
    throw UserError(tenant.gpus_node.where(),
                    "policies.page_manager " + machine.policies.page_manager.name() +
                        " moves pages of one GPU, and the GPUs of tenant " + tenant.name +
                        " hold translations of each other's pages",
                    "choose another page_manager, or name one GPU");
  for (const std::uint32_t gpu : tenant.gpus)
    if (machine.gpus[gpu].vm.device_pages != machine.gpus[tenant.gpu].vm.device_pages)
      throw UserError(tenant.gpus_node.where(),
                      "GPUs " + std::to_string(tenant.gpu) + " and " + std::to_string(gpu) +
                          " of tenant " + tenant.name +
                          " differ in vm.device_pages, so that its buffers would lie at different "
                          "addresses",
                      "give them one, or choose equal GPUs");
  const PeerCheck peers(tenant, machine);
  peers.check(tenant.workload.program);
  if (tenant.workload.is_recorded()) peers.check_recorded();
  check_shared_pages(tenant, machine);
}

}  // namespace lockstep
