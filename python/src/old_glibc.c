/* Functions of glibc that are newer than 2.28 and have no older version, for a module that runs there, too
   (tools/old_glibc.py); and readers of libarchive's that spmvpack never asks for, whose libraries would be linked in:
   libxml2, with 30 MB of ICU's data, and liblz4. Hidden: nobody else uses them. */
#define _GNU_SOURCE
#include <archive.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>

/* Whether the process has had but one thread: code of libstdc++ then counts without atomic instructions. 0 is always
   right. */
char __libc_single_threaded = 0;

/* Before 2.33 stat() and its kin were macros for these, with the layout of struct stat. */
#ifdef __x86_64__
enum { layout_of_stat = 1 };
#define FIRST_GLIBC "GLIBC_2.2.5"
#else
enum { layout_of_stat = 0 };
#define FIRST_GLIBC "GLIBC_2.17"
#endif
int __xstat(int layout, const char* path, struct stat* found);
int __fxstat(int layout, int file, struct stat* found);
int __lxstat(int layout, const char* path, struct stat* found);
__asm__(".symver __xstat, __xstat@" FIRST_GLIBC);
__asm__(".symver __fxstat, __fxstat@" FIRST_GLIBC);
__asm__(".symver __lxstat, __lxstat@" FIRST_GLIBC);
int stat(const char* path, struct stat* found) { return __xstat(layout_of_stat, path, found); }
int fstat(int file, struct stat* found) { return __fxstat(layout_of_stat, file, found); }
int lstat(const char* path, struct stat* found) { return __lxstat(layout_of_stat, path, found); }
int fstat64(int file, struct stat64* found) { return __fxstat(layout_of_stat, file, (struct stat*)found); }

/* std::random_device, and libarchive where it would encrypt. */
void arc4random_buf(void* bytes, size_t count) {
  char* at = bytes;
  while (count != 0) {
    const ssize_t n = getrandom(at, count, 0);
    if (n < 0 && errno != EINTR) abort(); /* as glibc's: nothing else is random */
    if (n > 0) {
      at += n;
      count -= (size_t)n;
    }
  }
}
uint32_t arc4random(void) {
  uint32_t value;
  arc4random_buf(&value, sizeof value);
  return value;
}

int archive_read_support_format_xar(struct archive* reader) {
  (void)reader;
  return ARCHIVE_FATAL;
}
int archive_read_support_filter_lz4(struct archive* reader) {
  (void)reader;
  return ARCHIVE_FATAL;
}
