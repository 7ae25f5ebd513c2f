#include "models/gpu/peer_check.hpp"

#include "core/error/error.hpp"

namespace lockstep {
namespace {

class PeerCheck {
 public:
  PeerCheck(const Tenant& tenant, const MachineParameters& machine)
      : tenant_(tenant), machine_(machine) {}

  void check(const std::vector<Step>& steps) const {
    for (const Step& step : steps) {
      if (step.kind == Step::Kind::peer_copy)
        require_way(step, buffer(step.buffer).gpu, buffer(step.other).gpu,
                    "buffer " + buffer(step.buffer).name + " is copied");
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

 private:
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
                        " moves pages, and tenant " + tenant.name +
                        " has GPUs that know pages of each other",
                    "choose another page_manager, or name one GPU");
  for (const std::uint32_t gpu : tenant.gpus)
    if (machine.gpus[gpu].vm.device_pages != machine.gpus[tenant.gpu].vm.device_pages)
      throw UserError(tenant.gpus_node.where(),
                      "GPUs " + std::to_string(tenant.gpu) + " and " + std::to_string(gpu) +
                          " of tenant " + tenant.name +
                          " differ in vm.device_pages, so that its buffers would lie at different "
                          "addresses",
                      "give them one, or choose equal GPUs");
  PeerCheck(tenant, machine).check(tenant.workload.program);
}

}  // namespace lockstep
