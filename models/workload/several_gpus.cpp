#include "models/workload/several_gpus.hpp"

#include <set>

#include "core/error/error.hpp"
#include "models/workload/recorded_program.hpp"
#include "models/workload/recording/recording.hpp"

namespace lockstep {
namespace {

void read_gpus_of(Tenant& tenant, std::size_t gpus) {
  const Node& list = tenant.gpus_node;
  if (!list.exists()) return;
  const std::vector<Node> items = list.items();
  if (items.empty()) throw list.error("a tenant runs on a GPU", "name one: gpus: [0, 1]");
  std::set<std::uint64_t> known;
  for (const Node& item : items) {
    const std::uint64_t number = item.unsigned_integer();
    const std::string name = "GPU " + std::to_string(number);
    if (number >= gpus)
      throw item.error(
          "there is no " + name + ": the machine has " + std::to_string(gpus) + ", numbered from 0",
          gpus == 1 ? "add gpus: 2 to the scenario"
                    : "choose 0 to " + std::to_string(gpus - 1) + ", or raise gpus");
    if (!known.insert(number).second) throw item.error(name + " is named twice", "name it once");
    tenant.gpus.push_back(static_cast<std::uint32_t>(number));
  }
  tenant.gpu = tenant.gpus.front();
  if (tenant.gpus.size() == 1) tenant.gpus.clear();
}

/// Refuses keys that speak of one GPU alone.
void refuse_what_needs_one(const Tenant& tenant) {
  const auto refuse = [&](const std::string& what, const std::string& advice,
                          const std::string& where) {
    throw UserError(where.empty() ? tenant.gpus_node.where() : where,
                    "tenant " + tenant.name + " runs on several GPUs, and " + what, advice);
  };
  if (tenant.instructions != 0)
    refuse("`instructions` counts the instructions of one GPU",
           "leave out instructions, or name one GPU", "");
  if (tenant.workload.heap != 0)
    refuse("a heap lies on one GPU", "leave heap: out", tenant.workload.heap_where);
  if (tenant.workload.recording && !tenant.workload.recording->has_devices())
    refuse("its recording is of a program that had one",
           "name one: gpu: " + std::to_string(tenant.gpu), "");
  for (const Buffer& buffer : tenant.workload.buffers) {
    if (!buffer.symbol.empty())
      refuse("a variable of the module would lie on each of them", "pass a buffer to the kernel",
             buffer.where);
  }
}

[[noreturn]] void refuse_number(const std::string& where, const std::string& what,
                                std::uint32_t gpu, const Tenant& tenant) {
  const std::size_t has = tenant.members();
  throw UserError(where,
                  what + " is on GPU " + std::to_string(gpu) + " of tenant " + tenant.name +
                      ", which has " + std::to_string(has) + ", numbered from 0",
                  "give the tenant more, as gpus: [0, 1], or change gpu:");
}

void check_steps(const std::vector<Step>& steps, const Tenant& tenant) {
  for (const Step& step : steps) {
    if (step.kind == Step::Kind::launch && step.gpu >= tenant.members())
      refuse_number(step.where, "this launch", step.gpu, tenant);
    if (step.kind == Step::Kind::free && step.is_part && tenant.members() > 1)
      throw UserError(step.where,
                      "tenant " + tenant.name + " runs on several GPUs, and frees part of a buffer",
                      "free all of it");
    const bool moves_ahead =
        step.kind == Step::Kind::prefetch || (step.kind == Step::Kind::advise && step.preferred);
    if (moves_ahead && tenant.members() > 1)
      throw UserError(step.where,
                      "tenant " + tenant.name + " runs on several GPUs, and this step says where " +
                          "managed memory goes without naming one",
                      "leave it out: pages go where they are used");
    if (step.kind == Step::Kind::swap &&
        tenant.workload.buffers[step.buffer].gpu != tenant.workload.buffers[step.other].gpu)
      throw UserError(step.where, "the buffers lie on different GPUs",
                      "swap buffers that lie on one GPU");
    check_steps(step.body, tenant);
  }
}

}  // namespace

void check_several_gpus(Tenant& tenant, std::size_t gpus) {
  read_gpus_of(tenant, gpus);
  if (tenant.cpu) return;
  if (tenant.members() > 1) refuse_what_needs_one(tenant);
  for (const Buffer& buffer : tenant.workload.buffers)
    if (buffer.gpu >= tenant.members())
      refuse_number(buffer.where, "buffer " + buffer.name, buffer.gpu, tenant);
  check_steps(tenant.workload.program, tenant);
  if (tenant.workload.is_recorded() && tenant.workload.recording->has_devices())
    for_each_recorded_launch(tenant.workload, [&](const Step& launch) {
      if (launch.gpu >= tenant.members())
        refuse_number(launch.where, "this launch", launch.gpu, tenant);
    });
}

}  // namespace lockstep
