/* Halo exchange in two dimensions, as in ../halo2d, of which this is the C version: the benchmark of "Extending Strided
 * Communication Interface in OpenSHMEM" (2015), with 128 MiB of data.
 *
 * A field is dealt out in blocks to a grid of PEs. In each step every PE moves the outermost rows and columns of its
 * block into the frames of its four neighbours' blocks, and relaxes its own. Rows are contiguous, columns are not: the
 * ways differ in how their cells are moved. They take turns, and any of them leads to the same field.
 *
 *     p        an operation for each cell of a column
 *     iput     one strided operation for each column
 *     ptr      stores into the neighbour's memory, where it can be reached; else iput
 *     packed   columns are gathered, put, and spread by their receiver behind a barrier
 *     signal   packed, rows and columns, with a signal for each edge: no barrier, neighbours alone wait
 *
 *     oshrun -np 4 ./halo2d --serial-check
 */
#include <shmem.h>

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MODERN (SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5)

enum side { NORTH, SOUTH, WEST, EAST, SIDES };
enum way { P, IPUT, PTR, PACKED, SIGNAL, WAYS };

static const char *const way_names[WAYS] = {"p", "iput", "ptr", "packed", "signal"};

struct range {
    size_t start, end;
};

/* Rows and columns of the field, and of PEs, which are numbered row by row. */
struct grid {
    size_t size[2], pes[2];
    int periodic;
};

/* The calling PE's block: its rows, inside a frame, at a distance that is the same on all PEs. */
struct block {
    double *cells;
    size_t pitch, rows, columns;
    int neighbours[SIDES];
    /* The row or column of the neighbour's frame that this PE's edge goes to. */
    size_t into[SIDES];
    /* What comes over each edge, in turns: two buffers, of `longest` cells each. */
    double *arrivals, *packed;
    size_t longest;
    uint64_t turn;
};

static uint64_t arrived[SIDES][2];
static double times_here[WAYS], times_anywhere[WAYS];
static int me, npes;

#if !MODERN
static long sync_array[2][SHMEM_REDUCE_SYNC_SIZE];
static double work[2][WAYS + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
#endif

static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "halo2d: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    shmem_global_exit(1);
    exit(1);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct range share(size_t things, size_t parts, size_t part)
{
    size_t each = things / parts, larger = things % parts;
    size_t start = part * each + (part < larger ? part : larger);
    return (struct range){start, start + each + (part < larger)};
}

static struct range part_of(const struct grid *grid, int pe, int axis)
{
    size_t place = axis ? (size_t)pe % grid->pes[1] : (size_t)pe / grid->pes[1];
    return share(grid->size[axis], grid->pes[axis], place);
}

/* The grid whose blocks have the shortest edges; of two such, the one with more columns of PEs. */
static void choose(struct grid *grid)
{
    size_t shortest = SIZE_MAX;
    for (size_t height = 1; height <= (size_t)npes; height++) {
        size_t width = (size_t)npes / height;
        if ((size_t)npes % height || height > grid->size[0] || width > grid->size[1])
            continue;
        size_t edges = height * grid->size[1] + width * grid->size[0];
        if (edges < shortest) {
            shortest = edges;
            grid->pes[0] = height;
            grid->pes[1] = width;
        }
    }
    if (shortest == SIZE_MAX)
        fail("%zu x %zu cells cannot be dealt out to %d PEs in blocks of at least one cell", grid->size[0], grid->size[1], npes);
}

/* The cell at the beginning in this row and column, counted from the frame of the field. */
static double initial(const struct grid *grid, size_t row, size_t column)
{
    if (row >= 1 && row <= grid->size[0] && column >= 1 && column <= grid->size[1])
        return (double)((row * 31 + column * 17) % 101);
    return grid->periodic ? 0 : (double)((row + 2 * column) % 50);
}

/* The PE one step away along an axis, or -1 beyond a fixed border. */
static int neighbour(const struct grid *grid, int axis, int step)
{
    long place[2] = {me / (long)grid->pes[1], me % (long)grid->pes[1]}, count = (long)grid->pes[axis];
    place[axis] += step;
    if (place[axis] < 0 || place[axis] >= count) {
        if (!grid->periodic)
            return -1;
        place[axis] = (place[axis] + count) % count;
    }
    return (int)(place[0] * (long)grid->pes[1] + place[1]);
}

static void fill(struct block *block, const struct grid *grid)
{
    struct range rows = part_of(grid, me, 0), columns = part_of(grid, me, 1);
    struct range most_rows = part_of(grid, 0, 0), most_columns = part_of(grid, 0, 1);
    /* Not at a distance of a power of two: the cells of a column would be in each other's way. */
    block->pitch = most_columns.end + 2 + 8;
    block->rows = rows.end - rows.start;
    block->columns = columns.end - columns.start;
    block->longest = most_rows.end > most_columns.end ? most_rows.end : most_columns.end;
    block->cells = shmem_calloc((most_rows.end + 2) * block->pitch, sizeof(double));
    block->arrivals = shmem_calloc(2 * SIDES * block->longest, sizeof(double));
    block->packed = calloc(2 * SIDES * block->longest, sizeof(double));
    block->turn = 0;
    if (!block->cells || !block->arrivals || !block->packed)
        fail("there is not enough symmetric memory: SHMEM_SYMMETRIC_SIZE");
    for (size_t row = 0; row < block->rows + 2; row++)
        for (size_t column = 0; column < block->columns + 2; column++)
            block->cells[row * block->pitch + column] = initial(grid, rows.start + row, columns.start + column);
    for (int side = 0; side < SIDES; side++) {
        int axis = side / 2, pe = neighbour(grid, axis, side % 2 ? 1 : -1);
        struct range part = {0, 0};
        if (pe >= 0)
            part = part_of(grid, pe, axis);
        block->neighbours[side] = pe;
        block->into[side] = side % 2 ? 0 : part.end - part.start + 1;
    }
}

static void store_column(double *to, const double *from, size_t pitch, size_t rows)
{
    for (size_t row = 0; row < rows; row++)
        to[row * pitch] = from[row * pitch];
}

/* The buffer of an edge in this turn. */
static double *buffer(const struct block *block, double *buffers, int side)
{
    return buffers + (block->turn % 2 * SIDES + (size_t)side) * block->longest;
}

static void gather(const struct block *block, int side)
{
    size_t pitch = block->pitch;
    const double *from = block->cells + pitch + (side == WEST ? 1 : block->columns);
    double *to = buffer(block, block->packed, side);
    for (size_t row = 0; row < block->rows; row++)
        to[row] = from[row * pitch];
}

/* Spreads what came over an edge into the frame. */
static void spread(const struct block *block, int side)
{
    const double *from = buffer(block, block->arrivals, side);
    size_t pitch = block->pitch;
    if (side == NORTH || side == SOUTH) {
        memcpy(block->cells + (side == NORTH ? 0 : block->rows + 1) * pitch + 1, from, block->columns * sizeof(double));
        return;
    }
    double *to = block->cells + pitch + (side == WEST ? 0 : block->columns + 1);
    for (size_t row = 0; row < block->rows; row++)
        to[row * pitch] = from[row];
}

/* The edge of the neighbour on which it receives what this PE sends over its own. */
static int opposite(int side)
{
    return side ^ 1;
}

static void put_with_signal(double *to, const double *from, size_t cells, uint64_t *signal, int pe)
{
#if MODERN
    shmem_double_put_signal_nbi(to, from, cells, signal, 1, SHMEM_SIGNAL_ADD, pe);
#else
    shmem_double_put(to, from, cells, pe);
    shmem_fence();
    shmem_ulong_atomic_inc((unsigned long *)signal, pe);
#endif
}

static void wait_for(uint64_t *signal, uint64_t value)
{
#if MODERN
    shmem_signal_wait_until(signal, SHMEM_CMP_GE, value);
#else
    shmem_ulong_wait_until((unsigned long *)signal, SHMEM_CMP_GE, value);
#endif
}

/* Rows and columns with signals; two turns share no buffer, and nobody is two turns ahead of a neighbour. */
static void exchange_by_signal(struct block *block)
{
    for (int side = 0; side < SIDES; side++) {
        int pe = block->neighbours[side];
        if (pe < 0)
            continue;
        const double *from;
        size_t cells = side < WEST ? block->columns : block->rows;
        if (side < WEST) {
            from = block->cells + (side == NORTH ? 1 : block->rows) * block->pitch + 1;
        } else {
            gather(block, side);
            from = buffer(block, block->packed, side);
        }
        put_with_signal(buffer(block, block->arrivals, opposite(side)), from, cells, &arrived[opposite(side)][block->turn % 2], pe);
    }
    for (int side = 0; side < SIDES; side++) {
        if (block->neighbours[side] < 0)
            continue;
        wait_for(&arrived[side][block->turn % 2], block->turn / 2 + 1);
        spread(block, side);
    }
    shmem_quiet();
    block->turn++;
}

static void exchange(struct block *block, enum way way)
{
    size_t pitch = block->pitch;
    if (way == SIGNAL) {
        exchange_by_signal(block);
        return;
    }
    for (int side = NORTH; side <= SOUTH; side++) {
        int pe = block->neighbours[side];
        size_t edge = side == NORTH ? 1 : block->rows;
        if (pe >= 0)
            shmem_double_put(block->cells + block->into[side] * pitch + 1, block->cells + edge * pitch + 1, block->columns, pe);
    }
    for (int side = WEST; side <= EAST; side++) {
        int pe = block->neighbours[side];
        if (pe < 0)
            continue;
        const double *from = block->cells + pitch + (side == WEST ? 1 : block->columns);
        double *to = block->cells + pitch + block->into[side], *there;
        switch (way) {
        case P:
            for (size_t row = 0; row < block->rows; row++)
                shmem_double_p(to + row * pitch, from[row * pitch], pe);
            break;
        case PTR:
            there = shmem_ptr(to, pe);
            if (there) {
                store_column(there, from, pitch, block->rows);
                break;
            }
            /* Fall through. */
        case IPUT:
            shmem_double_iput(to, from, (ptrdiff_t)pitch, (ptrdiff_t)pitch, block->rows, pe);
            break;
        default:
            gather(block, side);
            shmem_double_put(buffer(block, block->arrivals, opposite(side)), buffer(block, block->packed, side), block->rows, pe);
        }
    }
    if (way == PACKED) {
        shmem_barrier_all();
        for (int side = WEST; side <= EAST; side++)
            if (block->neighbours[side] >= 0)
                spread(block, side);
        /* The next turn's buffers are those of this one. */
        return;
    }
    shmem_quiet();
}

/* One step, for all cells but a frame around them. */
static void relax(double *cells, size_t pitch, size_t rows, size_t columns)
{
    double *above = malloc((columns + 2) * sizeof(double)), *here = malloc((columns + 2) * sizeof(double)), *swap;
    memcpy(above, cells, (columns + 2) * sizeof(double));
    for (size_t row = 1; row <= rows; row++) {
        double *new = cells + row * pitch;
        const double *below = new + pitch;
        memcpy(here, new, (columns + 2) * sizeof(double));
        for (size_t column = 1; column <= columns; column++)
            new[column] = 0.25 * (above[column] + below[column] + here[column - 1] + here[column + 1]);
        swap = above, above = here, here = swap;
    }
    free(above);
    free(here);
}

/* The whole run in one process. */
static double *solve(const struct grid *grid, size_t steps)
{
    size_t rows = grid->size[0], columns = grid->size[1], pitch = columns + 2;
    double *field = malloc((rows + 2) * pitch * sizeof(double));
    for (size_t row = 0; row < rows + 2; row++)
        for (size_t column = 0; column < pitch; column++)
            field[row * pitch + column] = initial(grid, row, column);
    for (size_t step = 0; step < steps; step++) {
        if (grid->periodic) {
            memcpy(field, field + rows * pitch, pitch * sizeof(double));
            memcpy(field + (rows + 1) * pitch, field + pitch, pitch * sizeof(double));
            for (size_t row = 0; row < rows + 2; row++) {
                field[row * pitch] = field[row * pitch + columns];
                field[row * pitch + columns + 1] = field[row * pitch + 1];
            }
        }
        relax(field, pitch, rows, columns);
    }
    return field;
}

static void compare(const struct block *block, const struct grid *grid, const double *serial)
{
    size_t pitch = grid->size[1] + 2;
    double *row_there = malloc(pitch * sizeof(double));
    for (int pe = 0; pe < npes; pe++) {
        struct range rows = part_of(grid, pe, 0), columns = part_of(grid, pe, 1);
        for (size_t row = rows.start; row < rows.end; row++) {
            size_t width = columns.end - columns.start;
            shmem_double_get(row_there, block->cells + (1 + row - rows.start) * block->pitch + 1, width, pe);
            const double *expected = serial + (1 + row) * pitch + 1 + columns.start;
            for (size_t i = 0; i < width; i++)
                if (memcmp(&row_there[i], &expected[i], sizeof(double)))
                    fail("the cell in row %zu, column %zu is %.17g, in the serial solution %.17g", row, columns.start + i, row_there[i], expected[i]);
        }
    }
    free(row_there);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *values, size_t count, double share_below)
{
    qsort(values, count, sizeof(double), by_size);
    return values[(size_t)((double)(count - 1) * share_below + 0.5)];
}

/* A line for each way: the median of its times, the quarters around it, and how many times as fast as the first it was
 * in the same round, in the median. */
static void print_times(const double (*times)[WAYS], size_t rounds)
{
    double *values = malloc(rounds * sizeof(double));
    printf("algorithm      median         p25         p75   faster than p\n");
    for (int way = 0; way < WAYS; way++) {
        for (size_t round = 0; round < rounds; round++)
            values[round] = times[round][way];
        double median = quantile(values, rounds, 0.5), p25 = quantile(values, rounds, 0.25), p75 = quantile(values, rounds, 0.75);
        for (size_t round = 0; round < rounds; round++)
            values[round] = times[round][0] / times[round][way];
        printf("%-9s%9.1f us%9.1f us%9.1f us%15.2fx\n", way_names[way], median * 1e6, p25 * 1e6, p75 * 1e6, quantile(values, rounds, 0.5));
    }
    free(values);
}

int main(int argc, char **argv)
{
    struct grid grid = {{4096, 4096}, {0, 0}, 1};
    size_t rounds = 25;
    int exchange_only = 0, serial_check = 0;
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        size_t number = isdigit((unsigned char)*value) ? strtoul(value, NULL, 10) : 0;
        if (strcmp(argv[i], "--serial-check") == 0)
            serial_check = 1;
        else if (strcmp(argv[i], "--exchange-only") == 0)
            exchange_only = 1;
        else if (strcmp(argv[i], "--rows") == 0 && number)
            grid.size[0] = number, i++;
        else if (strcmp(argv[i], "--columns") == 0 && number)
            grid.size[1] = number, i++;
        else if (strcmp(argv[i], "--rounds") == 0 && number)
            rounds = number, i++;
        else if (strcmp(argv[i], "--border") == 0 && (!strcmp(value, "periodic") || !strcmp(value, "fixed")))
            grid.periodic = *value == 'p', i++;
        else
            fail("%s: usage: halo2d [--rows N] [--columns N] [--rounds N] [--border periodic|fixed] [--exchange-only]\n"
                 "    [--serial-check]", argv[i]);
    }
    if (exchange_only && serial_check)
        fail("--serial-check needs relaxations, which --exchange-only leaves out");
#if !MODERN
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        sync_array[0][i] = sync_array[1][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
#endif
    choose(&grid);
    struct block block;
    fill(&block, &grid);
    double(*times)[WAYS] = calloc(rounds, sizeof *times);
    for (size_t round = 0; round < rounds; round++) {
        for (size_t turn = 0; turn < WAYS; turn++) {
            /* Another one begins in each round. */
            enum way way = (enum way)((round + turn) % WAYS);
            shmem_barrier_all();
            double start = seconds();
            exchange(&block, way);
            times_here[way] = seconds() - start;
            /* All edges have arrived. */
            shmem_barrier_all();
            if (!exchange_only)
                relax(block.cells, block.pitch, block.rows, block.columns);
        }
        /* An exchange takes as long as it takes the slowest PE. */
#if MODERN
        shmem_max_reduce(SHMEM_TEAM_WORLD, times_anywhere, times_here, WAYS);
#else
        shmem_double_max_to_all(times_anywhere, times_here, WAYS, 0, 0, npes, work[round % 2], sync_array[round % 2]);
#endif
        memcpy(times[round], times_anywhere, sizeof times_anywhere);
    }
    shmem_barrier_all();
    if (me == 0) {
        double mib = (double)(grid.size[0] * grid.size[1] * sizeof(double)) / (1 << 20);
        printf("%zu x %zu cells (%.1f MiB) on %d PE%s, %zu x %zu blocks, %s border\n", grid.size[0], grid.size[1], mib,
               npes, npes == 1 ? "" : "s", grid.pes[0], grid.pes[1], grid.periodic ? "periodic" : "fixed");
        print_times((const double(*)[WAYS])times, rounds);
        if (serial_check) {
            double *serial = solve(&grid, rounds * WAYS);
            compare(&block, &grid, serial);
            free(serial);
            printf("equal to the serial solution, bit for bit\n");
        }
    }
    shmem_finalize();
    return 0;
}
