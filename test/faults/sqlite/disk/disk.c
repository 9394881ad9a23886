/* Stands between a program and its files in one folder, as LD_PRELOAD: writes down what would reach the disk, and lets
 * chosen calls fail. Nothing is synced for real: what a power cut leaves is made of the record.
 *
 *   LEASECTL_DISK_UNDER  the folder, absolute
 *   LEASECTL_DISK_LOG    where the record goes; without it nothing is recorded
 *
 * The program talks to it by readlink():
 *   /leasectl-disk/mark/TEXT                      a line in the record
 *   /leasectl-disk/arm/ERRNO/FIRST/TIMES/KINDS    calls FIRST, FIRST+1, ... fail, TIMES of them (0: all). ERRNO 0: none;
 *                                                 9: the process is killed there. Answers "SEEN INJECTED" until then.
 * KINDS: w writes, s syncs, t truncations, r reads, u removals.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILES 4096
#define REAL(name, type, ...) \
  static type (*real)(__VA_ARGS__); \
  if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

static const char TALK[] = "/leasectl-disk/";
static char *paths[FILES];
static const char *under;
static int log_fd = -1;

static int fault_errno, fault_full_follows;
static long fault_first, fault_times, seen, injected;
static char fault_kinds[16];

__attribute__((constructor)) static void begin(void) {
  under = getenv("LEASECTL_DISK_UNDER");
  const char *log = getenv("LEASECTL_DISK_LOG");
  if (log && *log) log_fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int is_under(const char *path) {
  if (!under || !path) return 0;
  size_t length = strlen(under);
  return strncmp(path, under, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static const char *path_of(int fd) {
  return fd >= 0 && fd < FILES ? paths[fd] : NULL;
}

/* kind, length of path, offset, length of data; then both. One write: several processes share the record. */
static void record(char kind, const char *path, uint64_t offset, const void *data, uint32_t length) {
  if (log_fd < 0 || strstr(path, "-shm")) return;
  uint16_t path_length = strlen(path);
  size_t total = 1 + 2 + 8 + 4 + path_length + length;
  char *line = malloc(total), *at = line;
  *at++ = kind;
  memcpy(at, &path_length, 2), at += 2;
  memcpy(at, &offset, 8), at += 8;
  memcpy(at, &length, 4), at += 4;
  memcpy(at, path, path_length), at += path_length;
  if (length) memcpy(at, data, length);
  if (syscall(SYS_write, log_fd, line, total) != (long)total) abort();
  free(line);
}

static int fails(char kind) {
  if (!fault_kinds[0] || !strchr(fault_kinds, kind)) return 0;
  long now = ++seen;
  if (!fault_errno || now < fault_first || (fault_times && now >= fault_first + fault_times)) return 0;
  injected++;
  if (fault_errno == SIGKILL) kill(getpid(), SIGKILL);
  errno = fault_errno;
  return 1;
}

static int opened(int fd, const char *path, int existed, int flags) {
  if (fd < 0 || fd >= FILES || !is_under(path)) return fd;
  free(paths[fd]);
  paths[fd] = strdup(path);
  if (!existed && (flags & O_CREAT)) record('C', path, 0, NULL, 0);
  if (existed && (flags & O_TRUNC)) record('T', path, 0, NULL, 0);
  return fd;
}

static int open_real(const char *path, int flags, mode_t mode) {
  int existed = is_under(path) && syscall(SYS_access, path, F_OK) == 0;
  return opened(syscall(SYS_openat, AT_FDCWD, path, flags, mode), path, existed, flags);
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = va_arg(rest, mode_t); \
    va_end(rest); \
    long fd = open_real(path, flags, mode); \
    return fd; \
  }
OPEN(open)
OPEN(open64)

int close(int fd) {
  REAL(close, int, int);
  if (fd >= 0 && fd < FILES && paths[fd]) free(paths[fd]), paths[fd] = NULL;
  return real(fd);
}

/* A disk that gets full takes a part of what is written first. */
static ssize_t written(int fd, const void *data, size_t length, off64_t offset) {
  REAL(pwrite64, ssize_t, int, const void *, size_t, off64_t);
  const char *path = path_of(fd);
  if (!path) return real(fd, data, length, offset);
  if (fault_full_follows) {
    fault_full_follows = 0;
    injected++;
    errno = ENOSPC;
    return -1;
  }
  if (fails('w')) {
    if (errno != ENOSPC || length < 2) return -1;
    fault_full_follows = 1;
    length /= 2;
  }
  ssize_t done = real(fd, data, length, offset);
  if (done > 0) record('W', path, offset, data, done);
  return done;
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
  return written(fd, data, length, offset);
}

ssize_t pread64(int fd, void *data, size_t length, off64_t offset) {
  REAL(pread64, ssize_t, int, void *, size_t, off64_t);
  return path_of(fd) && fails('r') ? -1 : real(fd, data, length, offset);
}

/* After a sync that failed the system takes the pages for clean: no later one brings them to the disk. */
static int synced(int fd, int (*real)(int)) {
  const char *path = path_of(fd);
  if (!path) return real(fd);
  int no = fails('s');
  record(no ? 'F' : 'S', path, 0, NULL, 0);
  return no ? -1 : 0;
}

int fsync(int fd) {
  REAL(fsync, int, int);
  return synced(fd, real);
}

int fdatasync(int fd) {
  REAL(fdatasync, int, int);
  return synced(fd, real);
}

int ftruncate64(int fd, off64_t size) {
  REAL(ftruncate64, int, int, off64_t);
  const char *path = path_of(fd);
  if (path && fails('t')) return -1;
  int done = real(fd, size);
  if (path && done == 0) record('T', path, size, NULL, 0);
  return done;
}

int unlink(const char *path) {
  REAL(unlink, int, const char *);
  if (is_under(path) && fails('u')) return -1;
  int done = real(path);
  if (done == 0 && is_under(path)) record('U', path, 0, NULL, 0);
  return done;
}

int mkdir(const char *path, mode_t mode) {
  REAL(mkdir, int, const char *, mode_t);
  int done = real(path, mode);
  if (done == 0 && is_under(path)) record('M', path, 0, NULL, 0);
  return done;
}

static ssize_t told(const char *what, char *answer, size_t room) {
  char text[64];
  snprintf(text, sizeof text, "%ld %ld", seen, injected);
  if (strncmp(what, "mark/", 5) == 0) record('A', what + 5, 0, NULL, 0);
  if (strncmp(what, "arm/", 4) == 0) {
    seen = injected = fault_full_follows = 0;
    sscanf(what + 4, "%d/%ld/%ld/%15s", &fault_errno, &fault_first, &fault_times, fault_kinds);
  }
  size_t length = strlen(text);
  if (length > room) length = room;
  memcpy(answer, text, length);
  return length;
}

ssize_t readlink(const char *path, char *answer, size_t room) {
  REAL(readlink, ssize_t, const char *, char *, size_t);
  size_t length = sizeof TALK - 1;
  return strncmp(path, TALK, length) == 0 ? told(path + length, answer, room) : real(path, answer, room);
}
