#include "models/workload/slices.hpp"

#include <algorithm>
#include <map>

#include "core/parameters/document.hpp"
#include "core/parameters/node_data.hpp"
#include "core/parameters/suggest.hpp"
#include "models/dispatch/dispatch_parameters.hpp"

namespace lockstep {
namespace {

/// Number of parts into which memory, L2 and everything that goes with them are divided.
constexpr std::uint64_t memory_parts = 8;

struct Share {
  std::uint64_t sms = 0, memory = 0;
  std::uint64_t copy_engines = 0;  ///< copy engines; 0: as many as the GPU has
};

Node copy_of(const Node& node) {
  if (!node.exists()) return node;
  auto data = std::make_shared<Node::Data>(*node.data());
  for (Node& item : data->sequence) item = copy_of(item);
  for (Node::Data::Entry& entry : data->map) entry.value = copy_of(entry.value);
  return Node(std::move(data));
}

/// Returns the entry of `mig:` of a GPU.
Share share_of(const Node& gpu, const Node& slice) {
  const Node profiles = gpu.find("mig");
  if (!profiles.exists())
    throw slice.error("GPU " + gpu.at("name").text() + " cannot be divided",
                      "leave mig out, or choose a GPU whose file has mig: a100 or h100");
  std::vector<std::string> known;
  for (const auto& [name, profile] : profiles.entries()) known.push_back(name);
  if (!profiles.has(slice.text()))
    throw slice.error("GPU " + gpu.at("name").text() + " has no slice \"" + slice.text() + "\"",
                      suggest(slice.text(), known));
  const Node profile = profiles.at(slice.text());
  Share share{profile.at("sms").unsigned_integer(), profile.at("memory").unsigned_integer()};
  if (profile.has("copy_engines"))
    share.copy_engines = profile.at("copy_engines").unsigned_integer();
  profile.reject_unknown_keys();
  const std::uint64_t partitions = gpu.at("memory").at("partitions").unsigned_integer();
  if (share.sms == 0 || share.sms > gpu.at("sm").at("count").unsigned_integer())
    throw profile.error("a slice has SMs of its GPU, 1 to gpu.sm.count", "change sms");
  if (share.memory == 0 || share.memory > memory_parts ||
      partitions * share.memory % memory_parts != 0)
    throw profile.error("eighths of the " + std::to_string(partitions) +
                            " partitions of the GPU's memory are no whole number",
                        "write 1 to 8, or make gpu.memory.partitions a multiple of 8");
  return share;
}

/// Returns the most SMs that all slices of a GPU have together: those of the largest slice.
std::uint64_t divided_sms(const Node& gpu) {
  std::uint64_t most = 0;
  for (const auto& [name, profile] : gpu.at("mig").entries())
    most = std::max(most, profile.at("sms").unsigned_integer());
  return most;
}

void set(const Node& gpu, const std::string& key, std::uint64_t value, const char* unit = "") {
  override_value(gpu, key, parse_document(std::to_string(value) + unit, gpu.where()));
}

/// Divides a number that the GPU's file may set into multiples of `unit`.
void divide(const Node& gpu, const char* group, const char* part, const char* key,
            std::uint64_t share, std::uint64_t whole, std::uint64_t unit = 1) {
  Node at = gpu.find(group);
  std::string path = group;
  if (part != nullptr && at.is_map()) {
    at = at.find(part);
    path += std::string(".") + part;
  }
  if (!at.is_map() || !at.has(key)) return;
  const std::uint64_t value = at.find(key).unsigned_integer() * share / whole / unit * unit;
  set(gpu, path + "." + key, std::max(value, unit));
}

/// Gives a slice whole GPCs of the GPU's file, and the remaining SMs from the last one.
void divide_gpcs(const Node& gpu, std::uint64_t sms) {
  const Node dispatch = gpu.find("dispatch");
  if (!dispatch.is_map() || !dispatch.find("gpcs").is_sequence()) return;
  std::string list;
  for (const Node& gpc : dispatch.find("gpcs").items()) {
    const std::uint64_t here = std::min(gpc.unsigned_integer(), sms);
    sms -= here;
    if (here > 0) list += (list.empty() ? "" : ", ") + std::to_string(here);
  }
  override_value(gpu, "dispatch.gpcs", parse_document("[" + list + "]", gpu.where()));
}

std::uint64_t ways_of(const Node& gpu, const char* key) {
  const Node tlb = gpu.find("vm").is_map() ? gpu.find("vm").find("l2_tlb") : Node();
  if (!tlb.is_map() || !tlb.has(key)) return 1;
  return std::max<std::uint64_t>(tlb.find(key).unsigned_integer(), 1);
}

/// Removes the halves of L2, which belong to the whole chip; a slice of up to half of it lies in
/// one of them.
void leave_out_halves(const Node& gpu) {
  const Node noc = gpu.find("noc");
  if (!noc.is_map()) return;
  std::erase_if(noc.data()->map,
                [](const Node::Data::Entry& entry) { return entry.key == "halves"; });
}

Node slice_of(const Node& whole, const Node& name, const Share& share) {
  Node gpu = copy_of(whole);
  schema_of<DispatchParameters>().rename_old_keys(gpu.find("dispatch"));
  const std::uint64_t sms = gpu.at("sm").at("count").unsigned_integer();
  const std::uint64_t partitions =
      gpu.at("memory").at("partitions").unsigned_integer() * share.memory / memory_parts;
  // Granule of whole large pages.
  const std::uint64_t granule = partitions * (std::uint64_t{2} << 20);
  const std::uint64_t capacity =
      gpu.at("memory").at("capacity").bytes().count() * share.memory / memory_parts;
  divide(gpu, "dispatch", nullptr, "gpc_count", share.sms, sms);
  divide_gpcs(gpu, share.sms);
  set(gpu, "sm.count", share.sms);
  set(gpu, "memory.partitions", partitions);
  if (share.copy_engines > 0) set(gpu, "copy_engines", share.copy_engines);
  set(gpu, "memory.capacity", capacity >= granule ? capacity / granule * granule : capacity, "B");
  divide(gpu, "vm", nullptr, "walkers", share.memory, memory_parts);
  divide(gpu, "vm", "l2_tlb", "entries", share.memory, memory_parts, ways_of(gpu, "ways"));
  divide(gpu, "vm", "l2_tlb", "large_entries", share.memory, memory_parts,
         ways_of(gpu, "large_ways"));
  if (share.memory <= memory_parts / 2) leave_out_halves(gpu);
  override_value(gpu, "name",
                 parse_document(gpu.at("name").text() + " " + name.text(), gpu.where()));
  return gpu;
}

/// Connects slices to the link of their GPU: behind its uplink, or behind a new one with the link's
/// rate.
void join_links(Scenario& scenario,
                const std::map<std::uint32_t, std::vector<std::uint32_t>>& slices) {
  scenario.host = copy_of(scenario.host);
  std::string text;
  std::vector<bool> is_behind(scenario.gpus.size());
  const Node uplinks = scenario.host.find("uplinks");
  if (uplinks.is_sequence()) {
    for (const Node& uplink : uplinks.items()) {
      const Node gpus = uplink.find("gpus");
      if (!gpus.is_sequence()) continue;
      for (const Node& gpu : gpus.items()) {
        const auto found = slices.find(static_cast<std::uint32_t>(gpu.unsigned_integer()));
        if (found == slices.end()) continue;
        is_behind[found->first] = true;
        for (const std::uint32_t slice : found->second)
          gpus.data()->sequence.push_back(parse_document(std::to_string(slice), gpus.where()));
      }
    }
  }
  const Node rate = scenario.host.find("link_bandwidth");
  for (const auto& [gpu, parts] : slices) {
    if (is_behind[gpu]) continue;
    std::string numbers;
    for (const std::uint32_t slice : parts)
      numbers += (numbers.empty() ? "" : ", ") + std::to_string(slice);
    text += (text.empty() ? "" : ", ") + ("{gpus: [" + numbers + "], bandwidth: ") +
            (rate.exists() ? rate.text() : "11.223GB/s") + "}";
  }
  if (text.empty()) return;
  const Node more = parse_document("[" + text + "]", scenario.host.where());
  if (!uplinks.is_sequence()) return override_value(scenario.host, "uplinks", more);
  for (const Node& uplink : more.items()) uplinks.data()->sequence.push_back(uplink);
}

/// Returns the GPU that a tenant with `mig:` has a slice of.
std::uint32_t divided_gpu(const Tenant& tenant, std::size_t gpus) {
  if (tenant.sms > 0)
    throw tenant.mig_node.error("says how many SMs tenant " + tenant.name + " has, and sms, too",
                                "leave one of them out");
  if (tenant.gpus_node.exists())
    throw tenant.mig_node.error(
        "a slice is part of one GPU, and tenant " + tenant.name + " names several",
        "name one: gpu: 0");
  if (tenant.gpu == TenantKeys::any_gpu && gpus > 1)
    throw tenant.mig_node.error("does not say of which GPU tenant " + tenant.name + " has a slice",
                                "name it, as gpu: 0");
  return tenant.gpu == TenantKeys::any_gpu ? 0 : tenant.gpu;
}

void check_fit(const Tenant& tenant, std::uint32_t gpu, const Node& whole, const Share& taken) {
  const std::uint64_t sms = divided_sms(whole);
  if (taken.memory <= memory_parts && taken.sms <= sms) return;
  throw tenant.mig_node.error("the slice does not fit: with it, slices of GPU " +
                                  std::to_string(gpu) + " have " + std::to_string(taken.sms) +
                                  " SMs of " + std::to_string(sms) + " and " +
                                  std::to_string(taken.memory) + " eighths of its memory",
                              "choose smaller slices, or add a GPU");
}

/// Checks that tenants without a slice are on GPUs that are not divided.
void check_others(const Scenario& scenario,
                  const std::map<std::uint32_t, std::vector<std::uint32_t>>& slices) {
  for (const Tenant& tenant : scenario.tenants) {
    if (tenant.mig_node.exists()) continue;
    std::vector<std::uint32_t> gpus = tenant.gpus;
    if (gpus.empty()) gpus.push_back(tenant.gpu);
    for (const std::uint32_t gpu : gpus) {
      if (gpu == TenantKeys::any_gpu)
        throw UserError(tenant.where,
                        "tenant " + tenant.name + " names no GPU, and some are divided into slices",
                        "name one that is not: gpu: 1, or give it a slice: mig: 1g.5gb");
      if (slices.contains(gpu))
        throw UserError(tenant.where,
                        "tenant " + tenant.name + " is on GPU " + std::to_string(gpu) +
                            ", which is divided into slices",
                        "give it a slice, as mig: 1g.5gb, or another GPU");
    }
  }
}

}  // namespace

void divide_gpus(Scenario& scenario) {
  scenario.whole_gpus = scenario.gpus.size();
  std::map<std::uint32_t, std::vector<std::uint32_t>> slices;
  std::map<std::uint32_t, Share> taken;
  for (Tenant& tenant : scenario.tenants) {
    if (!tenant.mig_node.exists()) continue;
    const std::uint32_t gpu = divided_gpu(tenant, scenario.whole_gpus);
    const Node whole = scenario.gpus[gpu];
    const Share share = share_of(whole, tenant.mig_node);
    taken[gpu].sms += share.sms;
    taken[gpu].memory += share.memory;
    check_fit(tenant, gpu, whole, taken[gpu]);
    tenant.gpu = static_cast<std::uint32_t>(scenario.gpus.size());
    slices[gpu].push_back(tenant.gpu);
    scenario.gpus.push_back(slice_of(whole, tenant.mig_node, share));
  }
  if (slices.empty()) return;
  check_others(scenario, slices);
  join_links(scenario, slices);
}

}  // namespace lockstep
