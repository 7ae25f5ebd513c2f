/* Faults of files, of MPI and by signals, for a program that is started with LD_PRELOAD.
 *
 * LOCKSTEP_FAULT=kind:n:what does `what` at the n-th call of its kind (from 1 on):
 *
 *   kind                                             what
 *   write, sync, rename, open, close, truncate,      fail (EIO; a write: ENOSPC), delay (50 ms)
 *   read, remove
 *   write, read                                      short (half of the bytes)
 *   mpi (each call but for questions)                fail (as the library fails), delay, die (SIGKILL)
 *   exit (libraries are taken down)                  signal (SIGTERM)
 *
 * Files are regular ones in the folder LOCKSTEP_FAULT_FOLDER.  LOCKSTEP_FAULT_COUNT names a file to which the process
 * adds "kind n" for each kind when it ends.  LOCKSTEP_FAULT_RANK: only in this rank of an MPI job. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind {
  kind_write,
  kind_sync,
  kind_rename,
  kind_open,
  kind_close,
  kind_truncate,
  kind_read,
  kind_remove,
  kind_mpi,
  kind_exit,
  kinds
};
static const char* const kind_names[kinds] = {"write",    "sync", "rename", "open", "close",
                                              "truncate", "read", "remove", "mpi",  "exit"};
enum fault { fault_none, fault_fail, fault_short, fault_delay, fault_die, fault_signal };
static const char* const fault_names[] = {"", "fail", "short", "delay", "die", "signal"};

static long calls[kinds];
static enum kind chosen_kind = kinds;
static long chosen_call;
static enum fault chosen_fault;
static char folder[PATH_MAX];

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static bool is_this_rank(void) {
  const char* rank = getenv("LOCKSTEP_FAULT_RANK");
  const char* own = getenv("OMPI_COMM_WORLD_RANK");
  if (own == NULL) own = getenv("PMI_RANK");
  return rank == NULL || (own != NULL && strcmp(rank, own) == 0);
}

__attribute__((constructor)) static void begin(void) {
  const char* wanted = getenv("LOCKSTEP_FAULT_FOLDER");
  if (wanted == NULL || realpath(wanted, folder) == NULL) folder[0] = '\0';
  char kind[16] = "", fault[16] = "";
  const char* text = getenv("LOCKSTEP_FAULT");
  if (text == NULL || !is_this_rank()) return;
  if (sscanf(text, "%15[^:]:%ld:%15s", kind, &chosen_call, fault) != 3) return;
  for (int k = 0; k < kinds; ++k)
    if (strcmp(kind, kind_names[k]) == 0) chosen_kind = (enum kind)k;
  for (int f = 0; f < (int)(sizeof fault_names / sizeof fault_names[0]); ++f)
    if (strcmp(fault, fault_names[f]) == 0) chosen_fault = (enum fault)f;
}

/* The call of this kind that is about to be made: what shall become of it. */
static enum fault next(enum kind kind) {
  const long call = __atomic_add_fetch(&calls[kind], 1, __ATOMIC_RELAXED);
  if (kind != chosen_kind || call != chosen_call) return fault_none;
  if (chosen_fault == fault_die) raise(SIGKILL);
  if (chosen_fault == fault_signal) raise(SIGTERM);
  if (chosen_fault != fault_delay) return chosen_fault;
  const struct timespec pause = {0, 50000000};
  nanosleep(&pause, NULL);
  return fault_none;
}

__attribute__((destructor)) static void end(void) {
  next(kind_exit);
  const char* file = getenv("LOCKSTEP_FAULT_COUNT");
  if (file == NULL || !is_this_rank()) return;
  FILE* out = NEXT(fopen)(file, "a");
  if (out == NULL) return;
  for (int k = 0; k < kinds; ++k) fprintf(out, "%s %ld\n", kind_names[k], calls[k]);
  fclose(out);
}

/* Paths may name what is not there yet: their folder counts. */
static bool is_below(const char* path) {
  char copy[PATH_MAX], real[PATH_MAX];
  if (folder[0] == '\0' || strlen(path) >= sizeof copy) return false;
  strcpy(copy, path);
  char* slash = strrchr(copy, '/');
  if (slash != NULL) *slash = '\0';
  if (realpath(slash == NULL ? "." : copy, real) == NULL) return false;
  return strncmp(real, folder, strlen(folder)) == 0;
}

static bool is_file(int descriptor) {
  char link[64], path[PATH_MAX];
  struct stat status;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = '\0';
  return is_below(path);
}

static int failed(int error) {
  errno = error;
  return -1;
}

/* What a read or write does: all, less, or nothing. */
#define TRANSFER(kind, error, descriptor, size, all)             \
  do {                                                           \
    if (!is_file(descriptor)) return all;                        \
    const enum fault fault = next(kind);                         \
    if (fault == fault_fail) return failed(error);               \
    if (fault == fault_short && (size) > 1) (size) = (size) / 2; \
    return all;                                                  \
  } while (0)
#define WRITE(descriptor, size, all) TRANSFER(kind_write, ENOSPC, descriptor, size, all)
#define READ(descriptor, size, all) TRANSFER(kind_read, EIO, descriptor, size, all)

ssize_t write(int descriptor, const void* data, size_t size) {
  WRITE(descriptor, size, NEXT(write)(descriptor, data, size));
}
ssize_t pwrite(int descriptor, const void* data, size_t size, off_t at) {
  WRITE(descriptor, size, NEXT(pwrite)(descriptor, data, size, at));
}
ssize_t pwrite64(int descriptor, const void* data, size_t size, off64_t at) {
  WRITE(descriptor, size, NEXT(pwrite64)(descriptor, data, size, at));
}
ssize_t writev(int descriptor, const struct iovec* parts, int count) {
  WRITE(descriptor, count, NEXT(writev)(descriptor, parts, count));
}

ssize_t read(int descriptor, void* data, size_t size) {
  READ(descriptor, size, NEXT(read)(descriptor, data, size));
}
ssize_t pread(int descriptor, void* data, size_t size, off_t at) {
  READ(descriptor, size, NEXT(pread)(descriptor, data, size, at));
}
ssize_t pread64(int descriptor, void* data, size_t size, off64_t at) {
  READ(descriptor, size, NEXT(pread64)(descriptor, data, size, at));
}
ssize_t readv(int descriptor, const struct iovec* parts, int count) {
  READ(descriptor, count, NEXT(readv)(descriptor, parts, count));
}

/* Copies of whole files, as std::filesystem makes them. */
ssize_t sendfile(int to, int from, off_t* offset, size_t size);
ssize_t sendfile64(int to, int from, off64_t* offset, size_t size);
ssize_t sendfile(int to, int from, off_t* offset, size_t size) {
  WRITE(to, size, NEXT(sendfile)(to, from, offset, size));
}
ssize_t sendfile64(int to, int from, off64_t* offset, size_t size) {
  WRITE(to, size, NEXT(sendfile64)(to, from, offset, size));
}
ssize_t copy_file_range(int from, off64_t* from_at, int to, off64_t* to_at, size_t size, unsigned flags) {
  WRITE(to, size, NEXT(copy_file_range)(from, from_at, to, to_at, size, flags));
}

/* Calls that either are made or fail. */
#define CALL(kind, counts, all) \
  return (counts) && next(kind) == fault_fail ? failed(EIO) : (all)

int fsync(int descriptor) { CALL(kind_sync, is_file(descriptor), NEXT(fsync)(descriptor)); }
int fdatasync(int descriptor) { CALL(kind_sync, is_file(descriptor), NEXT(fdatasync)(descriptor)); }
int ftruncate(int descriptor, off_t size) {
  CALL(kind_truncate, is_file(descriptor), NEXT(ftruncate)(descriptor, size));
}
int ftruncate64(int descriptor, off64_t size) {
  CALL(kind_truncate, is_file(descriptor), NEXT(ftruncate64)(descriptor, size));
}
int rename(const char* from, const char* to) { CALL(kind_rename, is_below(to), NEXT(rename)(from, to)); }
int unlink(const char* path) { CALL(kind_remove, is_below(path), NEXT(unlink)(path)); }
int remove(const char* path) { CALL(kind_remove, is_below(path), NEXT(remove)(path)); }
int link(const char* from, const char* to) { CALL(kind_rename, is_below(to), NEXT(link)(from, to)); }

/* The file is closed, as Linux does also when close fails. */
int close(int descriptor) {
  const bool counts = is_file(descriptor);
  const int status = NEXT(close)(descriptor);
  CALL(kind_close, counts, status);
}

static mode_t mode_of(int flags, va_list more) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) : 0;
}
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  CALL(kind_open, is_below(path), NEXT(open)(path, flags, mode));
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  CALL(kind_open, is_below(path), NEXT(open64)(path, flags, mode));
}

/* A call of MPI that fails does what the communicator's error handler says. */
#define MPI_CALL(communicator, all)                               \
  do {                                                            \
    if (next(kind_mpi) != fault_fail) return all;                 \
    MPI_Comm_call_errhandler(communicator, MPI_ERR_OTHER);        \
    return MPI_ERR_OTHER;                                         \
  } while (0)

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  MPI_CALL(comm, PMPI_Allreduce(from, to, count, type, op, comm));
}
int MPI_Barrier(MPI_Comm comm) { MPI_CALL(comm, PMPI_Barrier(comm)); }
int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  MPI_CALL(comm, PMPI_Send(data, count, type, to, tag, comm));
}
int MPI_Ssend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  MPI_CALL(comm, PMPI_Ssend(data, count, type, to, tag, comm));
}
int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_CALL(comm, PMPI_Recv(data, count, type, from, tag, comm, status));
}
int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  MPI_CALL(comm, PMPI_Isend(data, count, type, to, tag, comm, request));
}
int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  MPI_CALL(comm, PMPI_Irecv(data, count, type, from, tag, comm, request));
}
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  MPI_CALL(MPI_COMM_WORLD, PMPI_Waitall(count, requests, statuses));
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part) {
  MPI_CALL(comm, PMPI_Comm_split_type(comm, type, key, info, part));
}
int MPI_Comm_group(MPI_Comm comm, MPI_Group* group) { MPI_CALL(comm, PMPI_Comm_group(comm, group)); }
int MPI_Group_translate_ranks(MPI_Group from, int count, const int ranks[], MPI_Group to, int translated[]) {
  MPI_CALL(MPI_COMM_WORLD, PMPI_Group_translate_ranks(from, count, ranks, to, translated));
}
int MPI_Comm_free(MPI_Comm* comm) { MPI_CALL(MPI_COMM_WORLD, PMPI_Comm_free(comm)); }
int MPI_Win_shared_query(MPI_Win window, int rank, MPI_Aint* size, int* unit, void* base) {
  MPI_CALL(MPI_COMM_WORLD, PMPI_Win_shared_query(window, rank, size, unit, base));
}
int MPI_Win_free(MPI_Win* window) { MPI_CALL(MPI_COMM_WORLD, PMPI_Win_free(window)); }
int MPI_Finalize(void) { MPI_CALL(MPI_COMM_WORLD, PMPI_Finalize()); }
int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window) {
  MPI_CALL(comm, PMPI_Win_allocate_shared(size, unit, info, comm, base, window));
}
