/* pes: 1 3 */
/* since: 1.6 */
/* Complex numbers in C++: those of C++, and those of C, which compilers have there, too. */
#include "check.h"

#include <complex>

static long sync_array[2][SHMEM_REDUCE_SYNC_SIZE];

template <class Number, class Real> static void all(const char *type, void (*sum)(Number *, const Number *), void (*prod)(Number *, const Number *))
{
    static Number source[3], dest[3];
    Real *parts = reinterpret_cast<Real *>(source), *results = reinterpret_cast<Real *>(dest);
    for (int i = 0; i < 3; i++) {
        parts[2 * i] = (Real)(me + 1);
        parts[2 * i + 1] = (Real)i;
    }
    shmem_barrier_all();
    sum(dest, source);
    for (int i = 0; i < 3; i++) {
        SAME(Real, type, i, npes * (npes + 1) / 2, results[2 * i]);
        SAME(Real, type, i, npes * i, results[2 * i + 1]);
    }
    shmem_barrier_all();
    std::complex<Real> model(1, 0);
    for (int i = 0; i < 3; i++) {
        parts[2 * i] = 0;
        parts[2 * i + 1] = 1;
    }
    for (int pe = 0; pe < npes; pe++)
        model *= std::complex<Real>(0, 1);
    shmem_barrier_all();
    prod(dest, source);
    SAME(Real, type, 2, model.real(), results[4]);
    SAME(Real, type, 2, model.imag(), results[5]);
    shmem_barrier_all();
}

#define TEST(LETTER, NUMBER, REAL)                                                                                     \
    {                                                                                                                  \
        static NUMBER work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];                                                             \
        all<NUMBER, REAL>(                                                                                             \
            "shmem_complex" #LETTER "_*_to_all, " #NUMBER,                                                             \
            [](NUMBER *dest, const NUMBER *source) {                                                                   \
                shmem_complex##LETTER##_sum_to_all(dest, source, 3, 0, 0, npes, work, sync_array[0]);                  \
            },                                                                                                         \
            [](NUMBER *dest, const NUMBER *source) {                                                                   \
                shmem_complex##LETTER##_prod_to_all(dest, source, 3, 0, 0, npes, work, sync_array[1]);                 \
            });                                                                                                        \
        all<NUMBER, REAL>(                                                                                             \
            "shmem_complex" #LETTER "_*_reduce, " #NUMBER,                                                             \
            [](NUMBER *dest, const NUMBER *source) {                                                                   \
                EQUAL("shmem_complex_sum_reduce", "result", 0,                                                         \
                      shmem_complex##LETTER##_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 3));                          \
            },                                                                                                         \
            [](NUMBER *dest, const NUMBER *source) {                                                                   \
                shmem_complex##LETTER##_prod_reduce(SHMEM_TEAM_WORLD, dest, source, 3);                                \
            });                                                                                                        \
        all<NUMBER, REAL>(                                                                                             \
            "shmem_*_reduce, " #NUMBER,                                                                                \
            [](NUMBER *dest, const NUMBER *source) { shmem_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 3); },           \
            [](NUMBER *dest, const NUMBER *source) { shmem_prod_reduce(SHMEM_TEAM_WORLD, dest, source, 3); });         \
    }

int main()
{
    begin();
    TEST(f, std::complex<float>, float)
    TEST(d, std::complex<double>, double)
#ifdef __GNUC__
    TEST(f, float _Complex, float)
    TEST(d, double _Complex, double)
#endif
    return end();
}
