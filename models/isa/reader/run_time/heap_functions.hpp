/// malloc and free of kernels: PTX that stands where a module only declares them.
///
/// The heap is a variable of the module, `%heap`, whose size the workload states; the host gives it
/// managed memory without content.  It begins with 512 bytes of its own: how many bytes blocks have
/// taken so far, and for each size the first of its free blocks.  Blocks have sizes of powers of
/// two, 32 bytes and more; the first 16 bytes say whether the block is allocated and its size, and
/// which free block is next.  malloc takes the first free block of its size, or else the next bytes
/// of the heap; free puts the block back.  Both change a word by compare-and-swap and try again if
/// another thread has changed it meanwhile, so that somebody always gets on and nobody waits for
/// anybody.  The upper half of a list's word counts its changes, so that a block that was taken and
/// put back between a look and a swap is noticed.
/// Source: CUDA C++ Programming Guide, "Dynamic Global Memory Allocation" (alignment, null when
/// full); the lists are Treiber's stacks with counted pointers.
///
/// Simplified: blocks are neither split nor joined.
/// Cost model: instructions and atomics like any others; a block's first use of a page is a fault.
#pragma once

namespace lockstep::isa {

extern const char* const heap_variables_text;
extern const char* const malloc_text;
extern const char* const free_text_of_heap;

}  // namespace lockstep::isa
