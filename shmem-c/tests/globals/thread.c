/* A library that starts a thread before any program begins. */
#include <pthread.h>
#include <unistd.h>

static void *sleep_on(void *nothing)
{
    pause();
    return nothing;
}

__attribute__((constructor)) static void start(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_on, NULL);
}
