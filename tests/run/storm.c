/* Put before libc: half of the calls that may be refused or interrupted are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Always the same half, but in no rhythm that the program could fall into. */
static int refused(int error) {
  static unsigned state = 1;
  state = state * 1664525u + 1013904223u;
  errno = error;
  return (int)(state >> 31);
}

/* Only a descriptor that may not wait says EAGAIN. */
static int refusal(int fd) { return fcntl(fd, F_GETFL) & O_NONBLOCK ? EAGAIN : EINTR; }

ssize_t read(int fd, void *data, size_t size) {
  return refused(refusal(fd)) ? -1 : REAL(read)(fd, data, size);
}

ssize_t write(int fd, const void *data, size_t size) {
  return refused(refusal(fd)) ? -1 : REAL(write)(fd, data, size);
}

ssize_t splice(int in, off64_t *in_at, int out, off64_t *out_at, size_t size, unsigned flags) {
  return refused(EAGAIN) ? -1 : REAL(splice)(in, in_at, out, out_at, size, flags);
}

ssize_t pread(int fd, void *data, size_t size, off_t at) {
  return refused(EINTR) ? -1 : REAL(pread)(fd, data, size, at);
}

int poll(struct pollfd *entries, nfds_t count, int timeout) {
  return refused(EINTR) ? -1 : REAL(poll)(entries, count, timeout);
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout) {
  return refused(EINTR) ? -1 : REAL(epoll_wait)(epoll, events, most, timeout);
}
