#include "jobs/capture/collectives/collective_calls.hpp"

#include <bit>
#include <cstring>

#include "jobs/capture/broken_request.hpp"
#include "jobs/capture/collectives/combining_kernels.hpp"

namespace lockstep::capture {
namespace {

using Kind = RecordedCollective::Operation;

constexpr std::uint64_t most_elements = std::uint64_t{1} << 37;

/// Bytes that a GPU sends and gets; 0: its buffer is not used.
struct Need {
  std::uint64_t send = 0, receive = 0;
};
Need need_of(const RecordedCollective& collective, std::size_t member) {
  const std::uint64_t bytes = collective.count * collective.element_bytes;
  const std::uint64_t all = bytes * collective.members.size();
  const bool is_root = member == collective.root;
  switch (collective.operation) {
    case Kind::all_reduce:
      return {bytes, bytes};
    case Kind::broadcast:
      return {is_root ? bytes : 0, bytes};
    case Kind::reduce:
      return {bytes, is_root ? bytes : 0};
    case Kind::all_gather:
      return {bytes, all};
    default:
      return {all, bytes};
  }
}

}  // namespace

bool CollectiveCalls::is_on(std::uint64_t device, std::uint64_t address,
                            std::uint64_t bytes) const {
  const DeviceMemory::Buffer* buffer = memory_.buffer_around(address, bytes);
  return buffer && buffer->kind == MemoryKind::device && buffer->device == device;
}

bool CollectiveCalls::has_buffers(const Call& call, std::size_t member) const {
  const Need need = need_of(call.collective, member);
  const CollectiveMember& own = call.collective.members[member];
  const std::uint64_t device = device_of_stream(call.streams[member]);
  return (need.send == 0 || is_on(device, own.send, need.send)) &&
         (need.receive == 0 || is_on(device, own.receive, need.receive));
}

/// Sets messages.  A message goes from the device of its stream to the device with the memory.
bool CollectiveCalls::set_messages(Call& call, Answer& answer) const {
  for (std::size_t k = 0; k < call.collective.members.size(); ++k) {
    CollectiveMember& message = call.collective.members[k];
    const std::uint64_t bytes = message.count * call.collective.element_bytes;
    const std::uint64_t device = device_of_stream(call.streams[k]);
    const DeviceMemory::Buffer* target = memory_.buffer_around(message.receive, bytes);
    answer.numbers[0] = k;
    if (!target || !is_on(device, message.send, bytes) ||
        !is_on(target->device, message.receive, bytes))
      return false;
    message.is_local = target->device == device ? 1 : 0;
    call.receivers.push_back(std::uint64_t{target->device} << device_shift);
  }
  return true;
}

std::uint64_t CollectiveCalls::scratch(std::uint32_t device, std::uint64_t bytes) {
  Scratch& own = scratch_[device];
  if (own.bytes >= bytes) return own.address;
  if (own.address != 0) memory_.release(own.address);
  own.bytes = std::bit_ceil(bytes);
  own.address = memory_.allocate(MemoryKind::device, own.bytes, "", device);
  if (own.address == 0) own.bytes = 0;
  return own.address;
}

std::uint64_t CollectiveCalls::function(const std::string& name, const std::string& ptx) {
  const auto known = functions_.find(name);
  if (known != functions_.end()) return known->second;
  const std::uint64_t module = modules_.add({ptx.data(), ptx.size()}, "libnccl");
  return functions_[name] = modules_.find_kernel(module, name);
}

std::optional<CollectiveCalls::Call> CollectiveCalls::prepare(const Request& request,
                                                              std::span<const std::byte> bytes,
                                                              Answer& answer) {
  const std::uint64_t* n = request.numbers;
  std::vector<CollectiveEnd> ends(bytes.size() / sizeof(CollectiveEnd));
  require(n[0] < RecordedCollective::operations, "there is no such collective");
  require(n[1] < element_kinds && n[2] < reductions, "there is no such type or reduction");
  require(bytes.size() == ends.size() * sizeof(CollectiveEnd) && !ends.empty() &&
              ends.size() <= RecordedCollective::most_messages,
          "a collective has one end or more");
  std::memcpy(ends.data(), bytes.data(), bytes.size());
  const bool is_exchange = n[0] == static_cast<std::uint64_t>(Kind::exchange);
  require(is_exchange || (n[3] < ends.size() && ends.size() <= most_devices),
          "its root is none of the ranks");
  require(n[4] < most_elements, "it has too many elements");
  Call call;
  RecordedCollective& collective = call.collective;
  collective.operation = static_cast<Kind>(n[0]);
  collective.root = static_cast<std::uint32_t>(n[3]);
  collective.element_bytes = bytes_of(static_cast<ElementKind>(n[1]));
  collective.count = n[4];
  for (const CollectiveEnd& end : ends) {
    require(end.count < most_elements, "a message has too many elements");
    collective.members.push_back({end.send, end.receive, 0, end.count, 0, 0});
    call.streams.push_back(end.stream);
  }
  if (is_exchange && !set_messages(call, answer)) {
    answer.status = invalid_value;
    return std::nullopt;
  }
  const std::uint64_t room = scratch_elements(collective.operation, collective.count, ends.size()) *
                             collective.element_bytes;
  for (std::size_t k = 0; k < ends.size() && !is_exchange; ++k) {
    answer.numbers[0] = k;
    if (!has_buffers(call, k)) {
      answer.status = invalid_value;
      return std::nullopt;
    }
    if (room == 0) continue;
    collective.members[k].scratch =
        scratch(static_cast<std::uint32_t>(device_of_stream(ends[k].stream)), room);
    if (collective.members[k].scratch != 0) continue;
    answer.status = memory_allocation;
    return std::nullopt;
  }
  const CombiningKernel kernel =
      collective.reduces() && ends.size() > 1
          ? combining_kernel(static_cast<ElementKind>(n[1]), static_cast<Reduction>(n[2]))
          : local_copy_kernel(collective.element_bytes);
  call.function = function(kernel.name, kernel.ptx);
  return call;
}

}  // namespace lockstep::capture
