/* Heat in a plate: a 2-D stencil on several PEs, as in ../heat2d, of which this is the C version.
 *
 * The plate's border keeps its temperature; inside, heat spreads until it does not change any more, or for a number
 * of steps. Each PE has a block of cells in an ordinary global array, which is symmetric as it is, inside a frame: in
 * each step the PEs put their outermost cells into the frames of their neighbours.
 *
 *     oshrun -np 4 ./heat2d --serial-check
 */
#include <shmem.h>

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most rows and columns of one PE. */
#define ROWS 1024
#define COLUMNS 1024
/* Cells from one row to the next: not at the distance of a power of two. */
#define PITCH (COLUMNS + 10)

#define MODERN (SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5)

/* The blocks of even and of odd steps, in their frames. */
static double even[ROWS + 2][PITCH], odd[ROWS + 2][PITCH];
static size_t field_size[2];
static double change_here, change_anywhere;

#if !MODERN
static long sync_array[2][SHMEM_REDUCE_SYNC_SIZE];
static double work[2][SHMEM_REDUCE_MIN_WRKDATA_SIZE];
#endif

struct range {
    size_t start, end;
};

struct decomposition {
    /* Rows and columns of cells, and of PEs. */
    size_t size[2], grid[2];
};

struct field {
    size_t rows, columns;
    double *cells;
};

struct progress {
    uint64_t steps;
    double residual;
};

static int me, npes;

/* Ends the job with a message. */
static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "heat2d: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    shmem_global_exit(1);
    exit(1);
}

/* What a part has of consecutive things: sizes differ by at most one, the larger parts come first. */
static struct range share(size_t things, size_t parts, size_t part)
{
    size_t each = things / parts, larger = things % parts;
    size_t start = part * each + (part < larger ? part : larger);
    return (struct range){start, start + each + (part < larger)};
}

static struct range part_of(const struct decomposition *d, int pe, int axis)
{
    size_t place = axis ? (size_t)pe % d->grid[1] : (size_t)pe / d->grid[1];
    return share(d->size[axis], d->grid[axis], place);
}

/* The one with the fewest cells along its cuts; of two with as many, the one with fewer cuts through rows. */
static struct decomposition decompose(int by_rows, size_t rows, size_t columns)
{
    struct decomposition best = {{rows, columns}, {0, 0}};
    size_t fewest = SIZE_MAX;
    for (size_t width = 1; width <= (by_rows ? 1 : (size_t)npes); width++) {
        if ((size_t)npes % width)
            continue;
        size_t height = (size_t)npes / width;
        struct range most_rows = share(rows, height, 0), most_columns = share(columns, width, 0);
        if (most_rows.end > ROWS || most_columns.end > COLUMNS)
            continue;
        size_t cuts[2] = {(height < rows ? height : rows) - 1, (width < columns ? width : columns) - 1};
        size_t cells = cuts[0] * columns + cuts[1] * rows;
        if (cells < fewest) {
            fewest = cells;
            best.grid[0] = height;
            best.grid[1] = width;
        }
    }
    if (fewest == SIZE_MAX)
        fail("the field has %zu rows and %zu columns, and each of %d PEs holds at most %d rows of %d columns", rows,
             columns, npes, ROWS, COLUMNS);
    return best;
}

/* Reads a NumPy array of f4, f8 or u1. */
static struct field read_field(const char *path)
{
    struct field field = {0, 0, NULL};
    FILE *file = fopen(path, "rb");
    if (!file)
        fail("cannot read %s", path);
    unsigned char start[12];
    if (fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY", 6))
        fail("%s is no NumPy array", path);
    size_t length = start[8] | (size_t)start[9] << 8;
    if (start[6] > 1) {
        if (fread(start + 10, 1, 2, file) != 2)
            fail("%s is cut short", path);
        length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    }
    char *header = calloc(1, length + 1), type[4] = "";
    if (!header || fread(header, 1, length, file) != length)
        fail("%s is cut short", path);
    const char *descr = strstr(header, "'descr'"), *shape = strstr(header, "'shape'");
    if (!descr || !shape || sscanf(descr, "'descr': '%3[^']'", type) != 1 ||
        sscanf(shape, "'shape': (%zu, %zu)", &field.rows, &field.columns) != 2 || strstr(header, "'fortran_order': True"))
        fail("%s is no array of two dimensions in C order", path);
    size_t width = strcmp(type, "<f8") == 0 ? 8 : strcmp(type, "<f4") == 0 ? 4 : strcmp(type + 1, "u1") == 0 ? 1 : 0;
    size_t cells = field.rows * field.columns;
    if (!width || !cells)
        fail("%s: its elements are `%s`; `<f4`, `<f8` and `|u1` can be read", path, type);
    field.cells = malloc(cells * sizeof(double));
    for (size_t i = 0; i < cells; i++) {
        unsigned char bytes[8];
        if (fread(bytes, 1, width, file) != width)
            fail("%s is cut short", path);
        float single;
        memcpy(&single, bytes, sizeof single);
        memcpy(&field.cells[i], bytes, sizeof(double));
        if (width < 8)
            field.cells[i] = width == 4 ? (double)single : (double)bytes[0];
        if (!isfinite(field.cells[i]))
            fail("%s: temperatures must be finite", path);
    }
    free(header);
    fclose(file);
    return field;
}

/* The colour of a share between 0 (coldest) and 1 (hottest): "inferno", by S. van der Walt and N. Smith, public domain
 * (CC0), at nine points. */
static void colour(double share_of, unsigned char *pixel)
{
    static const unsigned char colours[9][3] = {{0x00, 0x00, 0x04}, {0x21, 0x0C, 0x4A}, {0x56, 0x10, 0x6E},
                                                {0x89, 0x22, 0x6A}, {0xBB, 0x37, 0x54}, {0xE3, 0x59, 0x32},
                                                {0xF9, 0x8C, 0x0A}, {0xF9, 0xC9, 0x32}, {0xFC, 0xFF, 0xA4}};
    double place = share_of * 8;
    int below = (int)place < 7 ? (int)place : 7;
    double mix = place - below;
    for (int channel = 0; channel < 3; channel++) {
        double low = colours[below][channel], high = colours[below + 1][channel];
        pixel[channel] = (unsigned char)round(low + mix * (high - low));
    }
}

static uint32_t crc;

static void put_bytes(FILE *file, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
    fwrite(bytes, 1, count, file);
}

static void put_number(FILE *file, uint32_t number)
{
    unsigned char bytes[4] = {(unsigned char)(number >> 24), (unsigned char)(number >> 16),
                              (unsigned char)(number >> 8), (unsigned char)number};
    put_bytes(file, bytes, 4);
}

static void begin_chunk(FILE *file, const char *type, size_t length)
{
    put_number(file, (uint32_t)length);
    crc = 0xFFFFFFFFu;
    put_bytes(file, (const unsigned char *)type, 4);
}

static void end_chunk(FILE *file)
{
    put_number(file, ~crc);
}

/* A PNG whose data are not compressed: a block for each row. */
static void write_picture(const struct field *field, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        fail("cannot write %s", path);
    double coldest = INFINITY, hottest = -INFINITY;
    for (size_t i = 0; i < field->rows * field->columns; i++) {
        coldest = fmin(coldest, field->cells[i]);
        hottest = fmax(hottest, field->cells[i]);
    }
    double span = hottest - coldest;
    size_t row_bytes = 1 + 3 * field->columns;
    unsigned char *row = malloc(row_bytes);
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
    begin_chunk(file, "IHDR", 13);
    put_number(file, (uint32_t)field->columns);
    put_number(file, (uint32_t)field->rows);
    put_bytes(file, (const unsigned char *)"\x08\x02\0\0\0", 5);
    end_chunk(file);
    begin_chunk(file, "IDAT", 2 + field->rows * (5 + row_bytes) + 4);
    put_bytes(file, (const unsigned char *)"\x78\x01", 2);
    uint32_t a = 1, b = 0;
    for (size_t y = 0; y < field->rows; y++) {
        row[0] = 0;
        for (size_t x = 0; x < field->columns; x++)
            colour(span > 0 ? (field->cells[y * field->columns + x] - coldest) / span : 0, row + 1 + 3 * x);
        for (size_t i = 0; i < row_bytes; i++) {
            a = (a + row[i]) % 65521;
            b = (b + a) % 65521;
        }
        unsigned char head[5] = {y + 1 == field->rows, (unsigned char)row_bytes, (unsigned char)(row_bytes >> 8),
                                 (unsigned char)~row_bytes, (unsigned char)(~row_bytes >> 8)};
        put_bytes(file, head, 5);
        put_bytes(file, row, row_bytes);
    }
    put_number(file, b << 16 | a);
    end_chunk(file);
    begin_chunk(file, "IEND", 0);
    end_chunk(file);
    if (fclose(file))
        fail("cannot write %s", path);
    free(row);
}

/* Columns first..last of a row; gives the largest change of a cell. */
static double relax_row(const double *above, const double *row, const double *below, double *new, size_t first, size_t end)
{
    double change = 0;
    for (size_t i = first; i < end; i++) {
        new[i] = 0.25 * (above[i] + below[i] + row[i - 1] + row[i + 1]);
        change = fmax(change, fabs(new[i] - row[i]));
    }
    return change;
}

/* Puts the block's outermost cells into the frames of the PEs beside it. */
static void exchange(double (*block)[PITCH], const struct decomposition *d)
{
    struct range rows = part_of(d, me, 0), columns = part_of(d, me, 1);
    size_t height = rows.end - rows.start, width = columns.end - columns.start;
    int across = (int)d->grid[1];
    if (!height || !width)
        return;
    if (rows.start > 0) {
        struct range above = part_of(d, me - across, 0);
        shmem_double_put(&block[above.end - above.start + 1][1], &block[1][1], width, me - across);
    }
    if (rows.end < d->size[0])
        shmem_double_put(&block[0][1], &block[height][1], width, me + across);
    if (columns.start > 0) {
        struct range left = part_of(d, me - 1, 1);
        shmem_double_iput(&block[1][left.end - left.start + 1], &block[1][1], PITCH, PITCH, height, me - 1);
    }
    if (columns.end < d->size[1])
        shmem_double_iput(&block[1][0], &block[1][width], PITCH, PITCH, height, me + 1);
}

/* The largest change of a cell on any PE. All have relaxed their blocks when one has it. */
static double largest(double change, uint64_t step)
{
    change_here = change;
#if MODERN
    (void)step;
    shmem_max_reduce(SHMEM_TEAM_WORLD, &change_anywhere, &change_here, 1);
#else
    shmem_double_max_to_all(&change_anywhere, &change_here, 1, 0, 0, npes, work[step % 2], sync_array[step % 2]);
#endif
    return change_anywhere;
}

static struct progress solve(const struct decomposition *d, uint64_t steps, double tolerance)
{
    struct progress progress = {0, INFINITY};
    double(*old)[PITCH] = even, (*new)[PITCH] = odd, (*swap)[PITCH];
    struct range rows = part_of(d, me, 0), columns = part_of(d, me, 1);
    /* The cells that change: all of this PE's, without the border of the field. */
    size_t top = rows.start > 1 ? rows.start : 1, left = columns.start > 1 ? columns.start : 1;
    size_t bottom = rows.end < d->size[0] - 1 ? rows.end : d->size[0] - 1;
    size_t right = columns.end < d->size[1] - 1 ? columns.end : d->size[1] - 1;
    while (progress.steps < steps && progress.residual > tolerance) {
        exchange(old, d);
        shmem_barrier_all();
        double change = 0;
        for (size_t row = top; row < bottom && left < right; row++) {
            size_t at = 1 + row - rows.start;
            change = fmax(change, relax_row(old[at - 1], old[at], old[at + 1], new[at], 1 + left - columns.start,
                                            1 + right - columns.start));
        }
        progress.steps++;
        progress.residual = largest(change, progress.steps);
        swap = old, old = new, new = swap;
    }
    return progress;
}

/* The whole run in one process. */
static struct progress solve_serially(struct field *field, uint64_t steps, double tolerance)
{
    struct progress progress = {0, INFINITY};
    size_t columns = field->columns, cells = field->rows * columns;
    double *old = field->cells, *new = malloc(cells * sizeof(double)), *swap;
    memcpy(new, old, cells * sizeof(double));
    while (progress.steps < steps && progress.residual > tolerance) {
        progress.residual = 0;
        for (size_t row = 1; row + 1 < field->rows && columns > 1; row++) {
            const double *here = old + row * columns;
            progress.residual = fmax(progress.residual, relax_row(here - columns, here, here + columns, new + row * columns, 1, columns - 1));
        }
        progress.steps++;
        swap = old, old = new, new = swap;
    }
    field->cells = old;
    free(new);
    return progress;
}

/* Moves the field to the PEs, or what they have then back to PE 0. */
static void deal(const struct decomposition *d, struct field *field, double (*block)[PITCH], int back)
{
    for (int pe = 0; pe < npes; pe++) {
        struct range rows = part_of(d, pe, 0), columns = part_of(d, pe, 1);
        size_t width = columns.end - columns.start;
        for (size_t row = rows.start; row < rows.end && width; row++) {
            double *cells = field->cells + row * field->columns + columns.start;
            double *place = &block[1 + row - rows.start][1];
            if (back)
                shmem_double_get(cells, place, width, pe);
            else
                shmem_double_put(place, cells, width, pe);
        }
    }
}

int main(int argc, char **argv)
{
    const char *input = SAMPLE, *output = "heat2d.png";
    uint64_t steps = 200;
    double tolerance = 0.001;
    int by_rows = 0, serial_check = 0;
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--serial-check") == 0)
            serial_check = 1;
        else if (strcmp(argv[i], "--input") == 0)
            input = value, i++;
        else if (strcmp(argv[i], "--output") == 0)
            output = value, i++;
        else if (strcmp(argv[i], "--steps") == 0 && isdigit((unsigned char)*value))
            steps = strtoull(value, NULL, 10), i++;
        else if (strcmp(argv[i], "--tolerance") == 0 && isdigit((unsigned char)*value))
            tolerance = strtod(value, NULL), i++;
        else if (strcmp(argv[i], "--decomposition") == 0 && (!strcmp(value, "rows") || !strcmp(value, "blocks")))
            by_rows = *value == 'r', i++;
        else
            fail("%s: usage: heat2d [--input FILE.npy] [--steps N] [--tolerance DEGREES] [--output FILE.png]\n"
                 "    [--decomposition rows|blocks] [--serial-check]", argv[i]);
    }
#if !MODERN
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        sync_array[0][i] = sync_array[1][i] = SHMEM_SYNC_VALUE;
#endif

    struct field field = {0, 0, NULL};
    if (me == 0) {
        field = read_field(input);
        size_t size[2] = {field.rows, field.columns};
        for (int pe = 0; pe < npes; pe++)
            shmem_putmem(field_size, size, sizeof size, pe);
    }
    shmem_barrier_all();
    struct decomposition d = decompose(by_rows, field_size[0], field_size[1]);
    if (me == 0) {
        /* In both: the border is never written again. */
        deal(&d, &field, even, 0);
        deal(&d, &field, odd, 0);
    }
    shmem_barrier_all();
    struct progress progress = solve(&d, steps, tolerance);
    shmem_barrier_all();
    if (me == 0) {
        struct field end = {field.rows, field.columns, malloc(field.rows * field.columns * sizeof(double))};
        deal(&d, &end, progress.steps % 2 ? odd : even, 1);
        write_picture(&end, output);
        printf("%zu x %zu cells on %d PE%s: %llu steps, residual %.4f, picture in %s\n", end.rows, end.columns, npes,
               npes == 1 ? "" : "s", (unsigned long long)progress.steps, progress.residual, output);
        if (serial_check) {
            struct progress serial = solve_serially(&field, steps, tolerance);
            if (serial.steps != progress.steps || serial.residual != progress.residual)
                fail("the serial solution took %llu steps to %.17g, not %llu to %.17g", (unsigned long long)serial.steps,
                     serial.residual, (unsigned long long)progress.steps, progress.residual);
            for (size_t i = 0; i < end.rows * end.columns; i++)
                if (memcmp(&end.cells[i], &field.cells[i], sizeof(double)))
                    fail("the cell in row %zu, column %zu is %.17g, in the serial solution %.17g", i / end.columns,
                         i % end.columns, end.cells[i], field.cells[i]);
            printf("equal to the serial solution, bit for bit\n");
        }
        free(end.cells);
        free(field.cells);
    }
    shmem_finalize();
    return 0;
}
