#pragma once

#include <cstdint>
#include <string>

namespace lockstep {

/// Marks an open HDF5 file in its superblock as not being written and as ending at `end`, so that
/// every program opens it, not only one that asks for SWMR.  The library marks a file that it
/// writes and leaves its end open until it closes the file, which a killed run never does. Readers
/// are safe nevertheless: with SWMR the library writes every object before references to it.
/// Returns false if the superblock has another version than 3, or cannot be written.
/// Source: HDF5 File Format Specification, version 3.0, section II.A.
bool publish_superblock(int file, std::uint64_t end);

/// Returns whether the library's mark is set: a program is writing the file, or was killed doing
/// so.
bool is_marked_as_written(const std::string& path);

}  // namespace lockstep
