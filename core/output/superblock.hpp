#pragma once

#include <cstdint>
#include <string>

namespace lockstep {

/// Says in the superblock of an open HDF5 file that nobody writes it and that it ends at `end`, so
/// that every program opens it, not only one that asks for SWMR.  The library marks a file it
/// writes and leaves its end open until it closes the file, which a killed run never does.
/// Readers are safe nevertheless: with SWMR the library writes every object before what refers to
/// it.  False if the file has another superblock than version 3, or cannot be written.
/// Source: HDF5 File Format Specification, version 3.0, section II.A.
bool publish_superblock(int file, std::uint64_t end);

/// Returns whether the library's mark is there: a program writes the file, or was killed doing so.
bool is_marked_as_written(const std::string& path);

}  // namespace lockstep
