/* The steps of a process at its files below a folder: each is counted and written down, and at one of them the process
 * is killed, or the disk is full from then on. A write is killed half done, and the last of a full disk is half written.
 * Loaded before all else (LD_PRELOAD); does nothing until `steps_begin`. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char below[PATH_MAX];
static size_t length;
static long kill_at;
static int how, log_file = -1;
static atomic_long steps;

/* Watch a folder (its real path), kill at a step (0: none) by a signal (0: a disk that is full), and write the steps
 * down to a file. */
void steps_begin(const char *folder, long at, int number, int file) {
    snprintf(below, sizeof below, "%s/", folder);
    length = strlen(below), kill_at = at, how = number, log_file = file, steps = 0;
}

static int is_below(const char *path) { return length && !strncmp(path, below, length); }

/* The path of an open file; empty for none. */
static int of_handle(int handle, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t size = length ? readlink(link, path, PATH_MAX - 1) : -1;
    path[size < 0 ? 0 : size] = 0;
    return is_below(path);
}

/* The path of a name in a folder, wherever its folder's links lead. */
static int of_name(int folder, const char *name, char *path) {
    char above[PATH_MAX], whole[2 * PATH_MAX];
    if (!length || !name) return 0;
    above[0] = 0;
    if (name[0] != '/' && folder != AT_FDCWD) {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t size = readlink(link, above, sizeof above - 2);
        if (size < 0) return 0;
        strcpy(above + size, "/");
    }
    snprintf(whole, sizeof whole, "%s%s", above, name);
    char *last = strrchr(whole, '/'), real[PATH_MAX];
    if (last) *last = 0;
    if (!realpath(last == whole ? "/" : last ? whole : ".", real)) return 0;
    if (snprintf(path, PATH_MAX, "%s/%s", real, last ? last + 1 : whole) >= PATH_MAX) return 0;
    return is_below(path);
}

/* Note a step; returns whether it is the one to be killed at. */
static int is_last(const char *what, const char *path, const char *other) {
    long step = atomic_fetch_add(&steps, 1) + 1;
    if (log_file >= 0) {
        char line[3 * PATH_MAX];
        int size = snprintf(line, sizeof line, "%s\t%s\t%s\n", what, path + length, other ? other + length : "");
        if (syscall(SYS_write, log_file, line, size) < 0) abort();
    }
    return step == kill_at || (kill_at && !how && step > kill_at);
}

/* Kill the process, or report that the disk is full; what is written of so many bytes before. */
static ssize_t end(ssize_t written) {
    if (how) return syscall(SYS_kill, getpid(), how), written;
    return errno = ENOSPC, -1;
}


ssize_t write(int handle, const void *bytes, size_t size) {
    char path[PATH_MAX];
    if (length && of_handle(handle, path) && is_last("write", path, 0)) {
        ssize_t half = syscall(SYS_write, handle, bytes, size / 2);
        return end(half);
    }
    return syscall(SYS_write, handle, bytes, size);
}

ssize_t pwrite64(int handle, const void *bytes, size_t size, off64_t at) {
    char path[PATH_MAX];
    if (length && of_handle(handle, path) && is_last("write", path, 0)) {
        ssize_t half = syscall(SYS_pwrite64, handle, bytes, size / 2, at);
        return end(half);
    }
    return syscall(SYS_pwrite64, handle, bytes, size, at);
}
ssize_t pwrite(int handle, const void *bytes, size_t size, off_t at) { return pwrite64(handle, bytes, size, at); }

ssize_t writev(int handle, const struct iovec *parts, int count) {
    char path[PATH_MAX];
    if (length && of_handle(handle, path) && is_last("write", path, 0)) {
        ssize_t half = syscall(SYS_write, handle, parts[0].iov_base, parts[0].iov_len / 2);
        return end(half);
    }
    return syscall(SYS_writev, handle, parts, count);
}

ssize_t sendfile64(int to, int from, off64_t *at, size_t size) {
    char path[PATH_MAX];
    if (length && of_handle(to, path) && is_last("write", path, 0)) {
        struct stat about;
        off_t whole = fstat(from, &about) ? 2 : about.st_size;
        ssize_t half = syscall(SYS_sendfile, to, from, at, whole / 2);
        return end(half);
    }
    return syscall(SYS_sendfile, to, from, at, size);
}
ssize_t sendfile(int to, int from, off_t *at, size_t size) { return sendfile64(to, from, at, size); }

/* A file that is made or emptied. */
static int opened(int folder, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    if ((flags & (O_CREAT | O_TRUNC)) && of_name(folder, name, path) && is_last("open", path, 0) && end(0) < 0) return -1;
    return syscall(SYS_openat, folder, name, flags, mode);
}
#define MODE(flags) \
    mode_t mode = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, int); va_end(more); }
int open(const char *name, int flags, ...) { MODE(flags) return opened(AT_FDCWD, name, flags, mode); }
int open64(const char *name, int flags, ...) { MODE(flags) return opened(AT_FDCWD, name, flags, mode); }
int openat(int folder, const char *name, int flags, ...) { MODE(flags) return opened(folder, name, flags, mode); }
int openat64(int folder, const char *name, int flags, ...) { MODE(flags) return opened(folder, name, flags, mode); }

int renameat(int folder, const char *name, int new_folder, const char *new_name) {
    char path[PATH_MAX], other[PATH_MAX];
    if (of_name(folder, name, path) && of_name(new_folder, new_name, other) && is_last("rename", path, other)) (void)end(0);
    return syscall(SYS_renameat2, folder, name, new_folder, new_name, 0);
}
int rename(const char *name, const char *new_name) { return renameat(AT_FDCWD, name, AT_FDCWD, new_name); }

int unlinkat(int folder, const char *name, int flags) {
    char path[PATH_MAX];
    if (of_name(folder, name, path) && is_last("remove", path, 0)) (void)end(0);
    return syscall(SYS_unlinkat, folder, name, flags);
}
int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

int mkdirat(int folder, const char *name, mode_t mode) {
    char path[PATH_MAX];
    if (of_name(folder, name, path) && is_last("mkdir", path, 0) && end(0) < 0) return -1;
    return syscall(SYS_mkdirat, folder, name, mode);
}
int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }

int ftruncate64(int handle, off64_t size) {
    char path[PATH_MAX];
    if (length && of_handle(handle, path) && is_last("truncate", path, 0)) (void)end(0);
    return syscall(SYS_ftruncate, handle, size);
}
int ftruncate(int handle, off_t size) { return ftruncate64(handle, size); }

static int synced(long call, int handle) {
    char path[PATH_MAX];
    if (length && (of_handle(handle, path) || !strncmp(strcat(path, "/"), below, length)) && is_last("sync", path, 0)) (void)end(0);
    return syscall(call, handle);
}
int fsync(int handle) { return synced(SYS_fsync, handle); }
int fdatasync(int handle) { return synced(SYS_fdatasync, handle); }
