/* pes: 2 */
/* status: nonzero */
/* env: SHMEM_CHECK=1 */
/* cases: pe=shmem_long_p.*pe.*7.*;.at.*faults.c:[0-9]+ pe-negative=shmem_long_get.*-1 pe-atomic=shmem_int_atomic_add.*2 */
/* cases: pe-context=shmem_ctx_long_put.*9 pe-signal=shmem_putmem_signal.*5 pe-nbi=shmem_putmem_nbi.*2 */
/* cases: stack=shmem_long_put.*symmetric private=shmem_long_put.*symmetric.*nearest.is.0x.*default private-atomic=shmem_long_atomic_inc.*symmetric */
/* cases: private-wait=shmem_long_wait_until.*symmetric null=shmem_long_put beyond=shmem_putmem.*more.than.the.*default.*has.left overflow=shmem_put64 */
/* cases: before=shmem_my_pe|shmem_n_pes before-put=shmem_long_p after=shmem_barrier_all after-put=shmem_long_p */
/* cases: root=shmem_long_broadcast.*root cmp=shmem_long_wait_until.*cmp signal-op=shmem_putmem_signal.*sig_op */
/* cases: destroyed=shmem_ctx_long_p.*destroyed gone-context=shmem_ctx_quiet.*no.context.*destroyed */
/* cases: old-context=shmem_ctx_long_p.*ended.by.shmem_finalize old-team=shmem_team_sync.*no.team old-block=shmem_free.*before */
/* cases: stride=shmem_long_iput.*stride free=shmem_free team=shmem_team_sync|shmem_sync */
/* cases: unequal=malloc.*100.*bytes unequal-reduce=shmem_long_sum_reduce */
/* cases: gone-team=shmem_team_sync.*destroyed set=shmem_barrier.*not.in.the.set set-beyond=shmem_sync.*beyond */
/* cases: lock-twice=shmem_set_lock.*already lock-free=shmem_clear_lock.*nobody */
/* cases: variables=shmem_long_put.*640000.bytes.*end.of.the.program */
/* cases: aligned=shmem_long_atomic_add.*multiple.of.8 aligned-fetch=shmem_int_atomic_fetch.*multiple.of.4 */
/* cases: aligned-signal=shmem_putmem_signal.*sig_addr.*multiple.of.8 aligned-set=shmem_signal_set.*multiple.of.8 */
/* cases: garbage-context=shmem_ctx_quiet.*no.context private-context=shmem_team_destroy.*SHMEM_CTX_PRIVATE */
/* cases: aligned-wait=shmem_int_wait_until.*multiple.of.4 forked=shmem_long_p.*forked */
/* cases: mixed=in..sum.*at.*faults.c:[0-9]+.*in..barrier..at.*faults.c:[0-9]+|in..barrier..at.*faults.c:[0-9]+.*in..sum.*at.*faults.c:[0-9]+ */
/* Bad input: one message with the routine and what is wrong, and the job ends. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static long word, words[16];
static uint64_t flag;

static int is(const char *argument, const char *name)
{
    return strcmp(argument, name) == 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    long local = 3, *private_memory = (long *)calloc(100, sizeof(long));
    if (is(what, "before"))
        return shmem_my_pe() + shmem_n_pes() * 0;
    if (is(what, "before-put"))
        shmem_long_p(&word, 1, 0);
    /* Without checks operations take the fast way. */
    if (strncmp(what, "aligned", 7) == 0)
        unsetenv("SHMEM_CHECK");
    /* Who waits sleeps until it is asked. */
    if (is(what, "mixed"))
        setenv("SHMEM_BARRIER_ALGORITHM", "counter", 1);
    begin();
    long *heap = (long *)room(10 * sizeof(long));
    shmem_barrier_all();
    if (is(what, "after") || is(what, "after-put")) {
        shmem_finalize();
        if (is(what, "after"))
            shmem_barrier_all();
        shmem_long_p(&word, 1, 0);
        return 0;
    }
    if (is(what, "unequal"))
        shmem_malloc(me ? 100 : 200000);
    if (is(what, "unequal-reduce"))
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words, heap, me ? 1 : 2);
    if (is(what, "mixed") && me == 0) {
        usleep(300000);
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words, heap, 1);
    }
    if (is(what, "gone-team")) {
        /* Another one has its place. */
        shmem_team_t gone, other;
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &gone);
        shmem_team_destroy(gone);
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &other);
        shmem_team_sync(gone);
    }
    if (is(what, "old-context") || is(what, "old-team") || is(what, "old-block")) {
        shmem_ctx_t old_context, context;
        shmem_team_t old_team, team;
        shmem_ctx_create(0, &old_context);
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &old_team);
        shmem_finalize();
        shmem_init();
        /* Others have their places. */
        shmem_ctx_create(0, &context);
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team);
        if (is(what, "old-context"))
            shmem_ctx_long_p(old_context, &word, 1, 1);
        if (is(what, "old-team"))
            shmem_team_sync(old_team);
        if (is(what, "old-block"))
            shmem_free(heap);
    }
    if (is(what, "private-context")) {
        shmem_team_t team;
        shmem_ctx_t context;
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team);
        shmem_team_create_ctx(team, me ? 0 : SHMEM_CTX_PRIVATE, &context);
        shmem_team_destroy(team);
    }
    if (me == 0) {
        if (is(what, "garbage-context")) {
            shmem_ctx_t context;
            shmem_ctx_create(0, &context);
            shmem_ctx_quiet((shmem_ctx_t)0xfedcba9801234567);
        }
        if (is(what, "gone-context")) {
            shmem_ctx_t gone, other;
            shmem_ctx_create(0, &gone);
            shmem_ctx_destroy(gone);
            /* However many come after it. */
            for (int i = 1; i < 1 << 16; i++) {
                shmem_ctx_create(0, &other);
                shmem_ctx_destroy(other);
            }
            shmem_ctx_create(0, &other);
            shmem_ctx_quiet(gone);
        }
        if (is(what, "set"))
            shmem_barrier(1, 0, 1, words);
        if (is(what, "set-beyond"))
            shmem_sync(0, 1, 2, words);
        if (is(what, "lock-twice")) {
            shmem_set_lock(&word);
            shmem_set_lock(&word);
        }
        if (is(what, "lock-free"))
            shmem_clear_lock(&word);
        if (is(what, "pe"))
            shmem_long_p(&word, 1, 7);
        if (is(what, "pe-negative"))
            shmem_long_get(&local, &word, 1, -1);
        if (is(what, "pe-atomic"))
            shmem_int_atomic_add((int *)&word, 1, npes);
        if (is(what, "variables"))
            shmem_long_put(words, heap, 80000, 1);
        if (is(what, "aligned"))
            shmem_long_atomic_add((long *)((char *)words + 4), 1, 1);
        if (is(what, "aligned-fetch"))
            shmem_int_atomic_fetch((int *)((char *)words + 2), 1);
        if (is(what, "aligned-signal"))
            shmem_putmem_signal(words, &local, 8, (uint64_t *)((char *)heap + 4), 1, SHMEM_SIGNAL_SET, 1);
        if (is(what, "aligned-set"))
            shmem_signal_set((uint64_t *)((char *)heap + 4), 1, 1);
        if (is(what, "aligned-wait"))
            shmem_int_wait_until((int *)((char *)words + 2), SHMEM_CMP_EQ, 0);
        if (is(what, "forked")) {
            int status = 0;
            pid_t child = fork();
            if (child == 0) {
                shmem_long_p(&word, 1, 1);
                _exit(0);
            }
            waitpid(child, &status, 0);
            exit(status != 0);
        }
        if (is(what, "pe-context"))
            shmem_ctx_long_put(SHMEM_CTX_DEFAULT, &word, &local, 1, 9);
        if (is(what, "pe-signal"))
            shmem_putmem_signal(&word, &local, 8, &flag, 1, SHMEM_SIGNAL_SET, 5);
        if (is(what, "pe-nbi"))
            shmem_putmem_nbi(&word, &local, 8, npes);
        if (is(what, "stack"))
            shmem_long_put(&local, heap, 1, 1);
        if (is(what, "private"))
            shmem_long_put(private_memory, heap, 1, 1);
        if (is(what, "private-atomic"))
            shmem_long_atomic_inc(private_memory, 1);
        if (is(what, "private-wait"))
            shmem_long_wait_until(private_memory, SHMEM_CMP_EQ, 1);
        if (is(what, "null"))
            shmem_long_put(NULL, heap, 1, 1);
        if (is(what, "beyond")) {
            char *large = (char *)calloc(1, (size_t)1 << 30);
            shmem_putmem(heap, large, (size_t)1 << 30, 1);
            shmem_putmem(words, large, (size_t)1 << 30, 1);
        }
        if (is(what, "overflow"))
            shmem_put64(heap, words, SIZE_MAX / 4, 1);
        if (is(what, "root"))
            shmem_long_broadcast(SHMEM_TEAM_WORLD, words, heap, 1, 5);
        if (is(what, "cmp"))
            shmem_long_wait_until(&word, 99, 1);
        if (is(what, "signal-op"))
            shmem_putmem_signal(&word, &local, 8, &flag, 1, 77, 1);
        if (is(what, "destroyed")) {
            shmem_ctx_t context;
            shmem_ctx_create(0, &context);
            shmem_ctx_destroy(context);
            shmem_ctx_long_p(context, &word, 1, 1);
        }
        if (is(what, "stride"))
            shmem_long_iput(heap, words, 0, 1, 3, 1);
        if (is(what, "free"))
            shmem_free(private_memory);
        if (is(what, "team"))
            shmem_team_sync(SHMEM_TEAM_INVALID);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
