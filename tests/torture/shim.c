/* Counts the file operations of a process below one folder, and at the n-th of them kills the process, has
 * the operation fail, or only goes on counting. It is preloaded, so that it sees what SQLite, tantivy, Arrow
 * and Python do alike. It sleeps until shim_arm() is called; see shim.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN = 1, CREATE = 2, WRITE = 4, RENAME = 8, REMOVE = 16, SYNC = 32, FOLDER = 64, READ = 128 };
enum { COUNT, BEFORE, AFTER, TORN, FAIL, FAIL_ON };

static struct {
    int armed, action, error, log;
    unsigned kinds;
    long at, seen;
    size_t length;
    char folder[PATH_MAX];
} shim = {.log = -1};

#define REAL(result, name, ...) \
    static result (*real_##name)(__VA_ARGS__); \
    if (!real_##name) *(void **)&real_##name = dlsym(RTLD_NEXT, #name)

/* Kinds, which one of them, what happens then, with which error, below which folder. Files that are emptied,
 * written and synced (T, W, S, with inode and size) are logged to a descriptor, if it is one. */
void shim_arm(unsigned kinds, long at, int action, int error, const char *folder, int log) {
    shim.kinds = kinds, shim.at = at, shim.action = action, shim.error = error, shim.log = log;
    shim.seen = 0;
    snprintf(shim.folder, sizeof shim.folder, "%s", folder);
    shim.length = strlen(shim.folder);
    __atomic_store_n(&shim.armed, 1, __ATOMIC_SEQ_CST);
}

long shim_seen(void) { return shim.seen; }

void shim_disarm(void) { shim.armed = 0; }

static int inside(const char *path) {
    return !strncmp(path, shim.folder, shim.length) && (!path[shim.length] || path[shim.length] == '/');
}

static int inside_fd(int fd) {
    char link[64], path[PATH_MAX];
    if (fd == shim.log) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return inside(path);
}

static int inside_at(int folder, const char *path) {
    char here[PATH_MAX];
    if (!path) return 0;
    if (path[0] == '/') return inside(path);
    if (folder != AT_FDCWD) return inside_fd(folder);
    return getcwd(here, sizeof here) && inside(here);
}

static void note(char what, int fd) {
    struct stat status;
    char line[64];
    REAL(ssize_t, write, int, const void *, size_t);
    if (shim.log < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode)) return;
    int length = snprintf(line, sizeof line, "%c %lu %ld\n", what, (unsigned long)status.st_ino, (long)status.st_size);
    if (real_write(shim.log, line, length) < 0) return;
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* What happens to this operation; does not return where the process ends before it. */
static int due(unsigned kind, int below) {
    if (!below || !(shim.kinds & kind)) return COUNT;
    long number = __atomic_add_fetch(&shim.seen, 1, __ATOMIC_SEQ_CST);
    if (shim.action == FAIL_ON && number >= shim.at) return FAIL;
    if (number != shim.at) return COUNT;
    if (shim.action == BEFORE) die();
    return shim.action;
}

#define GUARD(kind, below, call) \
    if (!shim.armed) return call; \
    int what = due(kind, below); \
    if (what == FAIL) { errno = shim.error; return -1; } \
    __typeof__(call) result = call; \
    if (what == AFTER || what == TORN) die(); \
    return result

static int opened(int folder, const char *path, int flags, mode_t mode) {
    REAL(int, openat, int, const char *, int, ...);
    if (!shim.armed) return real_openat(folder, path, flags, mode);
    int writes = (flags & O_ACCMODE) != O_RDONLY || flags & O_CREAT;
    int below = inside_at(folder, path);
    int what = due(writes ? CREATE : OPEN, below);
    if (what == FAIL) { errno = shim.error; return -1; }
    int result = real_openat(folder, path, flags, mode);
    if (below && result >= 0 && flags & O_TRUNC) note('T', result);
    if (what == AFTER || what == TORN) die();
    return result;
}

static mode_t given(int flags, va_list rest) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

#define OPENER(name, extra) \
    int name(const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); mode_t mode = given(flags, rest); va_end(rest); \
        return opened(AT_FDCWD, path, flags | (extra), mode); \
    }
OPENER(open, 0)
OPENER(open64, O_LARGEFILE)
#define OPENER_AT(name, extra) \
    int name(int folder, const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); mode_t mode = given(flags, rest); va_end(rest); \
        return opened(folder, path, flags | (extra), mode); \
    }
OPENER_AT(openat, 0)
OPENER_AT(openat64, O_LARGEFILE)

/* Torn, the first half arrives. */
#define WRITER(name, half, parameters, ...) \
    ssize_t name parameters { \
        REAL(ssize_t, name, __VA_ARGS__); \
        if (!shim.armed) return WHOLE(name); \
        int below = inside_fd(fd), what = due(WRITE, below); \
        if (what == FAIL) { errno = shim.error; return -1; } \
        if (below) note('W', fd); \
        ssize_t result = what == TORN ? half : WHOLE(name); \
        if (what == AFTER || what == TORN) die(); \
        return result; \
    }
#define WHOLE(name) real_##name(fd, from, size)
WRITER(write, real_write(fd, from, size / 2), (int fd, const void *from, size_t size), int, const void *, size_t)
#undef WHOLE
#define WHOLE(name) real_##name(fd, from, size, offset)
WRITER(pwrite, real_pwrite(fd, from, size / 2, offset), (int fd, const void *from, size_t size, off_t offset), int, const void *, size_t, off_t)
WRITER(pwrite64, real_pwrite64(fd, from, size / 2, offset), (int fd, const void *from, size_t size, off64_t offset), int, const void *, size_t, off64_t)
#undef WHOLE
#define WHOLE(name) real_##name(fd, parts, count)
WRITER(writev, real_writev(fd, parts, (count + 1) / 2), (int fd, const struct iovec *parts, int count), int, const struct iovec *, int)
#undef WHOLE

#define TRUNCATER(name, offset) \
    int name(int fd, offset size) { \
        REAL(int, name, int, offset); \
        if (shim.armed && inside_fd(fd)) note('W', fd); \
        GUARD(WRITE, inside_fd(fd), real_##name(fd, size)); \
    }
TRUNCATER(ftruncate, off_t)
TRUNCATER(ftruncate64, off64_t)

#define SYNCER(name) \
    int name(int fd) { \
        REAL(int, name, int); \
        if (!shim.armed) return real_##name(fd); \
        int below = inside_fd(fd), what = due(SYNC, below); \
        if (what == FAIL) { errno = shim.error; return -1; } \
        int result = real_##name(fd); \
        if (below && !result) note('S', fd); \
        if (what == AFTER || what == TORN) die(); \
        return result; \
    }
SYNCER(fsync)
SYNCER(fdatasync)

#define READER(name, parameters, arguments, ...) \
    ssize_t name parameters { \
        REAL(ssize_t, name, __VA_ARGS__); \
        GUARD(READ, inside_fd(fd), real_##name arguments); \
    }
READER(read, (int fd, void *to, size_t size), (fd, to, size), int, void *, size_t)
READER(pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at), int, void *, size_t, off_t)
READER(pread64, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at), int, void *, size_t, off64_t)

int rename(const char *from, const char *to) {
    REAL(int, rename, const char *, const char *);
    GUARD(RENAME, inside_at(AT_FDCWD, to), real_rename(from, to));
}
int renameat(int at, const char *from, int into, const char *to) {
    REAL(int, renameat, int, const char *, int, const char *);
    GUARD(RENAME, inside_at(into, to), real_renameat(at, from, into, to));
}
int link(const char *from, const char *to) {
    REAL(int, link, const char *, const char *);
    GUARD(RENAME, inside_at(AT_FDCWD, to), real_link(from, to));
}
int linkat(int at, const char *from, int into, const char *to, int flags) {
    REAL(int, linkat, int, const char *, int, const char *, int);
    GUARD(RENAME, inside_at(into, to), real_linkat(at, from, into, to, flags));
}
int unlink(const char *path) {
    REAL(int, unlink, const char *);
    GUARD(REMOVE, inside_at(AT_FDCWD, path), real_unlink(path));
}
int unlinkat(int at, const char *path, int flags) {
    REAL(int, unlinkat, int, const char *, int);
    GUARD(REMOVE, inside_at(at, path), real_unlinkat(at, path, flags));
}
int rmdir(const char *path) {
    REAL(int, rmdir, const char *);
    GUARD(REMOVE, inside_at(AT_FDCWD, path), real_rmdir(path));
}
int mkdir(const char *path, mode_t mode) {
    REAL(int, mkdir, const char *, mode_t);
    GUARD(FOLDER, inside_at(AT_FDCWD, path), real_mkdir(path, mode));
}
int mkdirat(int at, const char *path, mode_t mode) {
    REAL(int, mkdirat, int, const char *, mode_t);
    GUARD(FOLDER, inside_at(at, path), real_mkdirat(at, path, mode));
}
