/* A library that seals the pages of the program, as a linker may ask the system to. */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_mseal
#define SYS_mseal 462
#endif

static int seal(struct dl_phdr_info *info, size_t size, void *nothing)
{
    (void)size, (void)nothing;
    unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[k];
        if (header->p_type != PT_LOAD || (header->p_flags & PF_W) == 0)
            continue;
        unsigned long start = (info->dlpi_addr + header->p_vaddr) & ~(page - 1);
        unsigned long end = info->dlpi_addr + header->p_vaddr + header->p_memsz;
        if (syscall(SYS_mseal, start, (end - start + page - 1) & ~(page - 1), 0) != 0) {
            fputs("cannot seal\n", stderr);
            exit(77);
        }
    }
    return 1;
}

__attribute__((constructor)) static void start(void)
{
    dl_iterate_phdr(seal, NULL);
}
