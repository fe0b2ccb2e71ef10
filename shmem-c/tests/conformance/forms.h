/* The file BODY once for each form of a call: DO(typename, operation, arguments..) is
 *
 *     typed            shmem_long_put(..)
 *     on a context     shmem_ctx_long_put(context, ..)
 *     generic          shmem_put(..)                     C11, and C++ by overloads
 *     both             shmem_put(context, ..)
 *
 * FN(name) is a name of this form, NAMED(..) the routine's
 * name for messages. Define ONLY_TYPED for what has no generic form, or is wanted without. */
#define FN_(form, name) form##_##name
#define FN__(form, name) FN_(form, name)
#define FN(name) FN__(FORM, name)

static shmem_ctx_t context UNUSED;

/* All that went before has arrived everywhere. */
static UNUSED void complete(void)
{
    shmem_ctx_quiet(context);
    shmem_barrier_all();
}

#define FORM typed
#define DO(NAME, OP, ...) shmem_##NAME##_##OP(__VA_ARGS__)
#define NAMED(NAME, OP) "shmem_" #NAME "_" #OP
#include BODY
#undef FORM
#undef DO
#undef NAMED

#ifndef NO_CONTEXT
#define FORM on_context
#define DO(NAME, OP, ...) shmem_ctx_##NAME##_##OP(context, __VA_ARGS__)
#define NAMED(NAME, OP) "shmem_ctx_" #NAME "_" #OP
#include BODY
#undef FORM
#undef DO
#undef NAMED
#endif

#ifndef ONLY_TYPED
#define FORM generic
#define DO(NAME, OP, ...) shmem_##OP(__VA_ARGS__)
#define NAMED(NAME, OP) "shmem_" #OP " (generic, " #NAME ")"
#include BODY
#undef FORM
#undef DO
#undef NAMED

#ifndef NO_CONTEXT
#define FORM generic_on_context
#define DO(NAME, OP, ...) shmem_##OP(context, __VA_ARGS__)
#define NAMED(NAME, OP) "shmem_" #OP " (generic, context, " #NAME ")"
#include BODY
#undef FORM
#undef DO
#undef NAMED
#endif
#endif

/* All forms, on the default context and on one that was made. */
static UNUSED void all_forms(void)
{
    context = SHMEM_CTX_DEFAULT;
    typed_all();
#ifndef ONLY_TYPED
    generic_all();
#endif
#ifndef NO_CONTEXT
    const long options[] = {-1, 0, SHMEM_CTX_PRIVATE};
    for (int i = 0; i < 3; i++) {
        context = SHMEM_CTX_DEFAULT;
        if (options[i] >= 0 && shmem_ctx_create(options[i], &context)) {
            fprintf(stderr, "PE %d of %d: shmem_ctx_create(%ld): expected 0, got another status\n", me, npes, options[i]);
            failures++;
            continue;
        }
        on_context_all();
#ifndef ONLY_TYPED
        generic_on_context_all();
#endif
        if (options[i] >= 0)
            shmem_ctx_destroy(context);
    }
#endif
}
