#include "jobs/capture/libraries/nccl/messages.hpp"

#include <string>

namespace lockstep::capture::nccl {
namespace {

constexpr std::uint64_t exchange_operation = 5;  // number in RecordedCollective::Operation

std::uint64_t bytes_of(ElementKind kind) {
  constexpr std::uint64_t bytes[element_kinds] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return bytes[static_cast<std::size_t>(kind)];
}

int told(const char* entry, int error, int rank) {
  if (error == success) return done;
  const std::string whose = " of rank " + std::to_string(rank);
  if (error == invalid_value)
    return refuse(invalid_argument, entry,
                  "a buffer" + whose + " is no device memory of that rank's GPU, or too short",
                  "pass memory of cudaMalloc that was made there");
  if (error == invalid_handle)
    return refuse(invalid_argument, entry, "the stream" + whose + " is none of that rank's GPU",
                  "make it after cudaSetDevice");
  if (error == memory_allocation)
    return refuse(cuda_error, entry, "there is no memory left for what arrives" + whose,
                  "choose a --gpu with more memory");
  return cuda_error;
}

/// Returns how the calls differ that have met; nothing if they agree.
std::string difference(const Call& one, const Call& other, std::size_t rank) {
  const std::string ranks = " of rank 0 and rank " + std::to_string(rank);
  if (one.operation != other.operation)
    return std::string(one.entry) + " of rank 0 meets " + other.entry + " of rank " +
           std::to_string(rank);
  if (one.count != other.count)
    return "the lengths" + ranks + " differ: " + std::to_string(one.count) + " and " +
           std::to_string(other.count) + " elements";
  if (one.kind != other.kind) return "the types" + ranks + " differ";
  if (one.reduction != other.reduction) return "the operators" + ranks + " differ";
  return one.root != other.root ? "the roots" + ranks + " differ" : std::string();
}

/// Returns the largest unit in bytes for a copy within a GPU.
std::uint64_t common_unit(const std::vector<Message>& messages) {
  std::uint64_t all = 0;
  for (const Message& message : messages)
    all |= reinterpret_cast<std::uint64_t>(message.send.send) |
           reinterpret_cast<std::uint64_t>(message.receive.receive) |
           (message.send.count * bytes_of(message.send.kind));
  if (all % 8 == 0) return 8;
  return all % 4 == 0 ? 4 : 1;
}

bool fits(const Message& message) {
  const std::uint64_t sent = message.send.count * bytes_of(message.send.kind),
                      wanted = message.receive.count * bytes_of(message.receive.kind);
  if (sent == wanted) return true;
  *message.send.result = *message.receive.result = refuse(
      invalid_usage, message.send.entry,
      "rank " + std::to_string(message.from) + " sends " + std::to_string(sent) +
          " bytes, and rank " + std::to_string(message.to) + " wants " + std::to_string(wanted),
      "send as much as is received");
  return false;
}

}  // namespace

int do_collective(const std::vector<Call>& calls, const std::vector<int>& devices) {
  const Call& first = calls.front();
  for (std::size_t k = 1; k < calls.size(); ++k)
    if (const std::string what = difference(first, calls[k], k); !what.empty())
      return refuse(invalid_usage, first.entry, what, "make the same call for all ranks");
  if (first.count == 0) return done;
  std::vector<CollectiveCallEnd> ends;
  for (std::size_t k = 0; k < calls.size(); ++k)
    ends.push_back({calls[k].send, calls[k].receive, calls[k].stream, devices[k], 0});
  const std::uint64_t numbers[5] = {first.operation, static_cast<std::uint64_t>(first.kind),
                                    static_cast<std::uint64_t>(first.reduction), first.root,
                                    first.count};
  int failed = 0;
  const int error = collective_entry()(numbers, ends.data(), ends.size(), &failed);
  return told(first.entry, error, failed);
}

void exchange(const std::vector<Message>& messages) {
  std::vector<Message> right;
  for (const Message& message : messages)
    if (fits(message)) right.push_back(message);
  const std::uint64_t unit = common_unit(right);
  const ElementKind kind = unit == 8   ? ElementKind::u64
                           : unit == 4 ? ElementKind::u32
                                       : ElementKind::u8;
  std::vector<CollectiveCallEnd> ends;
  std::vector<int> ranks;
  for (const Message& message : right) {
    const std::uint64_t bytes = message.send.count * bytes_of(message.send.kind);
    *message.send.result = *message.receive.result = done;
    if (bytes == 0) continue;
    ends.push_back({message.send.send, message.receive.receive, message.send.stream,
                    message.from_device, bytes / unit});
    ranks.push_back(message.from);
  }
  if (ends.empty()) return;
  const std::uint64_t numbers[5] = {exchange_operation, static_cast<std::uint64_t>(kind), 0, 0, 0};
  int failed = 0;
  const int error = collective_entry()(numbers, ends.data(), ends.size(), &failed);
  const int result =
      told("ncclSend", error, ranks[static_cast<std::size_t>(failed) % ranks.size()]);
  for (const Message& message : right) *message.send.result = *message.receive.result = result;
}

}  // namespace lockstep::capture::nccl
