/* Compares x86_rows.h with llama.cpp's own products of one row (`ggml_vec_dot_*`, its file is linked
 * to this): the same bits for one row and for many, and for one row whoever multiplies it.
 * Prints a line for products that differ, how many were compared, and how many of one row were
 * llama.cpp's. */
#ifdef HEADSTART_EMULATE
#include "emulated.h"
#endif
#include "x86_rows.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void product(int n, float * s, size_t bs, const void * x, size_t bx, const void * y, size_t by, int nrc);
product ggml_vec_dot_q8_0_q8_0, ggml_vec_dot_q5_0_q8_0, ggml_vec_dot_q4_1_q8_1;
/* its numbers of half precision, which it fills when it starts */
float ggml_table_f32_f16[1 << 16];

static float wanted(int type, int64_t blocks, const char * a, const char * b) {
    product * const dot = type == HEADSTART_Q8_0 ? ggml_vec_dot_q8_0_q8_0
        : type == HEADSTART_Q5_0 ? ggml_vec_dot_q5_0_q8_0 : ggml_vec_dot_q4_1_q8_1;
    float sum;
    dot((int)blocks * 32, &sum, 0, a, 0, b, 0, 1);
    return sum;
}

static void fill(char * data, size_t blocks, size_t size, size_t halves, int least) {
    for (size_t i = 0; i < blocks * size; ++i) {
        data[i] = (char)(rand() % (256 + (least > -128 ? -1 : 0)) + least);
    }
    for (size_t i = 0; i < blocks * halves; ++i) {
        const uint16_t half = _cvtss_sh((rand() % 2001 - 1000) / 3e4f, 0);
        memcpy(data + i / halves * size + i % halves * 2, &half, 2);
    }
}

int main(void) {
    for (int half = 0; half < 1 << 16; ++half) {
        ggml_table_f32_f16[half] = _cvtsh_ss((uint16_t)half);
    }
    const int types[] = {HEADSTART_Q8_0, HEADSTART_Q4_1, HEADSTART_Q5_0};
    /* rows of weights, rows, blocks; those of models are 18 and more blocks long */
    const int64_t shapes[][3] = {{4, 1, 1}, {8, 1, 18}, {64, 1, 48}, {8, 1, 1100}, {8, 2, 3}, {12, 3, 18},
                                 {64, 5, 48}, {20, 8, 7}, {16, 9, 64}, {8, 33, 5}, {8, 6, 300}, {8, 3, 600},
                                 {8, 2, 1100}, {12, 2, 20}, {12, 4, 64}, {12, 7, 20}, {12, 17, 18}};
    int differ = 0, compared = 0, left = 0;
    for (int t = 0; t < 3; ++t) {
        for (size_t shape = 0; shape < sizeof(shapes) / sizeof(*shapes); ++shape) {
            const int64_t m = shapes[shape][0], n = shapes[shape][1], blocks = shapes[shape][2];
            const int type = types[t], other = type == HEADSTART_Q4_1 ? HEADSTART_Q8_1 : HEADSTART_Q8_0;
            const size_t size = headstart_block(type), wide = other == HEADSTART_Q8_1 ? 36 : 34;
            const int halves = type == HEADSTART_Q4_1 ? 2 : 1;
            char * a = malloc(m * blocks * size), * b = malloc(n * blocks * wide);
            float * c = calloc(m * n, sizeof(float));
            fill(a, m * blocks, size, halves, -128);
            fill(b, n * blocks, wide, halves, -127);
            const int threads = m >= 12 ? 3 : 1;
            int done = 0;
            for (int thread = 0; thread < threads; ++thread) {
                done += headstart_rows(thread, threads, m, n, blocks, a, blocks, b, blocks, c, m, type, other, 0);
            }
            if (done != threads) {
                if (n > 1 || done) {
                    printf("type %d: %d of %d threads did their share of %ld rows\n", type, done, threads, (long)n);
                    ++differ;
                }
                left += n == 1;
            }
            for (int64_t i = 0; done && i < m * n; ++i, ++compared) {
                const float right = wanted(type, blocks, a + i % m * blocks * size, b + i / m * blocks * wide);
                if (memcmp(&right, c + i, sizeof(right)) != 0 && differ++ < 5) {
                    printf("type %d, %ld x %ld x %ld, %ld: %.9g instead of %.9g\n", type, (long)m, (long)n,
                           (long)blocks, (long)i, c[i], right);
                }
            }
            free(a); free(b); free(c);
        }
    }
    printf("%d of %d differ, %d left\n", differ, compared, left);
    return differ != 0;
}
