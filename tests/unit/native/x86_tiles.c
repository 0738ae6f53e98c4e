/* x86_weights.h as a library for its test. */
#include "x86_weights.h"

/* Bytes of n rows of numbers in 8 bits, and those rows; 0 where they stay as they are. */
size_t row_size(int type, int64_t numbers) {
    return headstart_is_float(type) ? 0 : headstart_x_size(type, numbers);
}

void make_row(int type, const float * from, int64_t numbers, char * to) {
    headstart_make_x(type, from, numbers, to);
}

/* Rows of weights from `begin` to `end` by n rows `step` bytes apart; a row of c has m numbers. */
void multiply(int type, int64_t begin, int64_t end, int64_t n, int64_t numbers, const char * a, size_t lda,
              const char * x, size_t step, float * c, int64_t m) {
    const char * from[512];
    float * to[512];
    for (int64_t row = 0; row < n; ++row) {
        from[row] = x + row * step;
        to[row] = c + row * m;
    }
    headstart_tiles_for(type)(begin, end, n, numbers, a, lda, from, to, a);
}
