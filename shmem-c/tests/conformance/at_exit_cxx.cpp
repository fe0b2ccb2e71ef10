/* pes: 1 2 3 */
/* since: 1.6 */
/* Destructors of objects that were constructed before the beginning: the library is open until it is finalised. */
#include "check.h"

#include <vector>

static long word;

namespace {
struct Library {
    std::vector<long> values;
    Library() : values(3, 7) {}
    ~Library()
    {
        shmem_long_p(&word, values[2] + me, (me + 1) % npes);
        shmem_barrier_all();
        EQUAL("shmem_long_p", "value that a destructor has put", (me + npes - 1) % npes + 7, word);
        shmem_finalize();
        if (failures)
            _Exit(1);
    }
};
} // namespace

static Library library;

int main()
{
    begin();
    return 0;
}
