/* pes: 1 3 */
/* Globals of C++: objects with constructors, members of classes, templates, inline variables, namespaces. */
#include "check.h"

#include <string>
#include <vector>

namespace place {
struct Point {
    double x, y;
    Point(double x, double y) : x(x), y(y) {}
};
static Point origin(1.5, -2.5);
template <typename T> struct Cell {
    static T value;
};
template <typename T> T Cell<T>::value = T(7);
class Holder {
  public:
    static long count;
};
long Holder::count = 3;
inline long shared_by_inline = 11;
} // namespace place

static std::string text = "what a constructor made before main";
static std::vector<long> numbers = {1, 2, 3};

int main()
{
    place::origin.x += 1;
    begin();
    int to = (me + 1) % npes, from = (me + npes - 1) % npes;
    TRUE_THAT("shmem_init", text == "what a constructor made before main");
    TRUE_THAT("shmem_init", numbers.size() == 3 && numbers[2] == 3);
    EQUAL("shmem_double_g", "member", 5, 2 * shmem_double_g(&place::origin.x, to));
    EQUAL("shmem_long_g", "static member", 3, shmem_long_g(&place::Holder::count, to));
    EQUAL("shmem_int_g", "static member of a template", 7, shmem_int_g(&place::Cell<int>::value, to));
    EQUAL("shmem_long_g", "inline variable", 11, shmem_long_g(&place::shared_by_inline, to));
    shmem_barrier_all();
    shmem_double_p(&place::origin.y, me, to);
    shmem_long_p(&place::Holder::count, me, to);
    shmem_int_p(&place::Cell<int>::value, me, to);
    shmem_long_p(&place::shared_by_inline, me, to);
    shmem_barrier_all();
    EQUAL("shmem_double_p", "member", from, place::origin.y);
    EQUAL("shmem_long_p", "static member", from, place::Holder::count);
    EQUAL("shmem_int_p", "static member of a template", from, place::Cell<int>::value);
    EQUAL("shmem_long_p", "inline variable", from, place::shared_by_inline);
    text += " and more of it, so that it moves to another place";
    numbers.resize(1000);
    return end();
}
