/// Where the program's memory comes from: jemalloc, in 2 MiB pages of the host where it has them.
///
/// A window goes once through the state of all components; in 4 KiB pages that is more pages than
/// a core's TLB knows.  Memory is kept until the program ends: giving parts of a page back would
/// break it up.

/// jemalloc reads this before main().
extern "C" const char* const malloc_conf = "thp:always,metadata_thp:auto,dirty_decay_ms:-1";
