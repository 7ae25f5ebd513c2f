/// malloc and free of kernels: PTX that stands where a module only declares them.
///
/// The heap is a variable of the module, `%heap`, whose size the workload states; the host gives it
/// managed memory without content. The variable `%heap_lists` has the number of bytes that blocks
/// have taken so far, and the first block of 32 lists of free blocks for each size. Blocks have
/// sizes of powers of two, 32 bytes and more; the first 16 bytes hold the block's size, whether it
/// is allocated, and the next free block. malloc takes the first free block of the thread's own
/// list, or else the next bytes of the heap, or else a block of another list; free puts the block
/// into the thread's own list. Lane, warp and SM choose a thread's list, so that the threads of a
/// warp change different words, and few others the same. Both change a word by compare-and-swap and
/// try again if another thread has changed it meanwhile, so that somebody always gets on and nobody
/// waits for anybody. The upper half of a list's word counts its changes, so that a block that was
/// taken and put back between a look and a swap is noticed. Sources: CUDA C++ Programming Guide,
/// "Dynamic Global Memory Allocation" (alignment, null when full); the lists are Treiber's stacks
/// with counted pointers; threads are spread as in Halloc, where a hash of theirs says where they
/// begin to look (000, section 5.4).
///
/// Simplified: blocks are neither split nor joined.
/// Cost model: instructions and atomics like any others; a block's first use of a page is a fault.
#pragma once

namespace lockstep::isa {

extern const char* const heap_variables_text;
extern const char* const malloc_text;
extern const char* const free_text_of_heap;

}  // namespace lockstep::isa
