/* Compares x86_rows.h with sums made one by one, as `ggml_vec_dot_*` makes them: the same bits.
 * Prints a line for every product that differs, and how many were compared. */
#include "x86_rows.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float wanted(int type, int64_t blocks, const char * a, const char * b) {
    const bool sums = type == HEADSTART_Q4_1;
    const size_t wide = sums ? sizeof(headstart_q8_1) : sizeof(headstart_q8_0);
    float lanes[8] = {0}, added = 0;
    for (int64_t k = 0; k < blocks; ++k, a += headstart_block(type), b += wide) {
        int w[32], dots[8] = {0};
        for (int i = 0; i < 32; ++i) {
            if (type == HEADSTART_Q8_0) {
                w[i] = ((const headstart_q8_0 *)a)->q[i];
            } else if (type == HEADSTART_Q4_1) {
                const uint8_t byte = ((const headstart_q4_1 *)a)->q[i % 16];
                w[i] = i < 16 ? byte & 15 : byte >> 4;
            } else {
                const headstart_q5_0 * block = (const headstart_q5_0 *)a;
                const int low = i < 16 ? block->q[i] & 15 : block->q[i - 16] >> 4;
                w[i] = (low | (block->h[i / 8] >> i % 8 & 1) << 4) - 16;
            }
            dots[i / 4] += w[i] * (int8_t)b[wide - 32 + i];
        }
        const float scale = _cvtsh_ss(*(const uint16_t *)a) * _cvtsh_ss(*(const uint16_t *)b);
        for (int lane = 0; lane < 8; ++lane) {
            lanes[lane] = __builtin_fmaf(scale, (float)dots[lane], lanes[lane]);
        }
        if (sums) {
            const float m = _cvtsh_ss(((const headstart_q4_1 *)a)->m);
            added = __builtin_fmaf(m, _cvtsh_ss(((const headstart_q8_1 *)b)->s), added);
        }
    }
    const float total = headstart_sum(_mm256_loadu_ps(lanes));
    return sums ? total + added : total;
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
    const int types[] = {HEADSTART_Q8_0, HEADSTART_Q4_1, HEADSTART_Q5_0};
    const int64_t shapes[][3] = {{4, 1, 1}, {8, 2, 3}, {12, 3, 18}, {64, 5, 48}, {20, 8, 7}, {16, 9, 64},
                                 {8, 33, 5}, {8, 6, 300}, {8, 3, 600}, {8, 2, 1100}};
    int differ = 0, compared = 0;
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
            for (int thread = 0; thread < threads; ++thread) {
                if (!headstart_rows(thread, threads, m, n, blocks, a, blocks, b, blocks, c, m, type, other, 0)) {
                    printf("type %d is not done here\n", type);
                }
            }
            for (int64_t i = 0; i < m * n; ++i, ++compared) {
                const float right = wanted(type, blocks, a + i % m * blocks * size, b + i / m * blocks * wide);
                if (memcmp(&right, c + i, sizeof(right)) != 0 && differ++ < 5) {
                    printf("type %d, %ld x %ld x %ld, %ld: %.9g instead of %.9g\n", type, (long)m, (long)n,
                           (long)blocks, (long)i, c[i], right);
                }
            }
            free(a); free(b); free(c);
        }
    }
    printf("%d of %d differ\n", differ, compared);
    return differ != 0;
}
