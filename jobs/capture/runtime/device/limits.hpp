#pragma once

namespace lockstep::capture {

/// Limits that are the same on every GPU.
inline constexpr int warp = 32, threads_per_block = 1024, constant_bytes = 65536;
inline constexpr int largest_grid_x = 0x7fffffff, largest_grid = 65535, largest_block_z = 64;

}  // namespace lockstep::capture
