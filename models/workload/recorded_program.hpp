/// A recorded program as steps of a host program, one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/workload/workload.hpp"

namespace lockstep {

/// Returns the index of the buffer that contains the address.
std::optional<std::uint32_t> buffer_at(const Workload& workload, std::uint64_t address);

std::uint64_t recorded_steps(const Workload& workload);
/// Returns a recorded step.  Throws UserError for a step that does not fit the workload's buffers.
Step recorded_step(const Workload& workload, std::uint64_t number);
/// Returns the copies and launches of a collective; nothing where the step is none.  Throws
/// UserError for a collective that does not fit the workload's buffers.
std::vector<Step> recorded_collective(const Workload& workload, std::uint64_t number);

/// Calls function(step) for copies between devices, once for each two buffers.
void for_each_recorded_peer_copy(const Workload& workload,
                                 const std::function<void(const Step&)>& function);
/// Calls `function` for one launch of each kernel and launch shape.
void for_each_recorded_launch(const Workload& workload,
                              const std::function<void(const Step&)>& function);

/// Returns, in words, the first element of a recorded copy that differs from what the program got.
/// The copy begins `offset` bytes behind the begin of the buffer.
std::optional<std::string> find_unexpected(const Workload& workload, std::uint32_t buffer,
                                           std::uint64_t offset, const RecordedData& data,
                                           std::span<const std::byte> got);

}  // namespace lockstep
