/* pes: 1 2 3 */
/* The program's handlers of signals stay, whatever the library loads: those set before the beginning, and all others. */
#include "check.h"

#include <signal.h>

static volatile sig_atomic_t came;

static void handle(int number)
{
    came = number;
}

int main(void)
{
    const int handled[] = {SIGTERM, SIGINT, SIGABRT, SIGBUS, SIGUSR1}, left[] = {SIGSEGV, SIGILL, SIGFPE};
    struct sigaction before[3], now;
    for (int i = 0; i < 3; i++)
        sigaction(left[i], NULL, &before[i]);
    for (int i = 0; i < 5; i++)
        signal(handled[i], handle);
    begin();
    for (int i = 0; i < 5; i++) {
        raise(handled[i]);
        EQUAL("shmem_init", "signal that a handler got", handled[i], came);
    }
    for (int i = 0; i < 3; i++) {
        sigaction(left[i], NULL, &now);
        TRUE_THAT("shmem_init", now.sa_handler == before[i].sa_handler);
    }
    return end();
}
