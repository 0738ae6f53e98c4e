/* Products of quantized weights and a few rows of numbers: four rows of weights meet them as they are
 * unpacked. The sums are those of x86_tiles.h.
 */
#pragma once
#include "x86_few_wide.h"
#ifdef HEADSTART_TILES
#define HEADSTART_FEW 4

/* The sums of four registers, in one. */
HEADSTART_TILE __m128i headstart_four(__m256i a, __m256i b, __m256i c, __m256i d) {
    const __m256i both = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    return _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
}

/* Four bytes of each of four rows. */
HEADSTART_TILE __m128i headstart_four_words(const uint8_t * row, size_t lda) {
    return _mm_setr_epi32(headstart_word(row), headstart_word(row + lda), headstart_word(row + 2 * lda),
                          headstart_word(row + 3 * lda));
}

HEADSTART_TILE __m128 headstart_four_halves(__m128i words) {
    return _mm256_castps256_ps128(headstart_halves(_mm256_castsi128_si256(words)));
}

#ifndef HEADSTART_WIDE
/* The 32 numbers of a block, as they are in a tile. */
HEADSTART_TILE __m256i headstart_block_of(const int type, const uint8_t * block) {
    if (type == HEADSTART_T_Q8_0) {
        return headstart_positive(type, _mm256_loadu_si256((const __m256i *)(block + 2)));
    }
    const bool five = type == HEADSTART_T_Q5_0 || type == HEADSTART_T_Q5_1;
    const size_t size = headstart_tile_block(type);
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(block + size - 16));
    __m256i q = headstart_and(
        _mm256_inserti128_si256(_mm256_castsi128_si256(bytes), _mm_srli_epi16(bytes, 4), 1), 15);
    if (five) {
        const __m256i spread = _mm256_shuffle_epi8(
            headstart_every(block + size - 20),
            _mm256_set_epi64x(0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0));
        const __m256i bits = _mm256_set1_epi64x((long long)0x8040201008040201ull);
        q = _mm256_or_si256(q, headstart_and(_mm256_cmpeq_epi8(_mm256_and_si256(spread, bits), bits), 16));
    }
    return type == HEADSTART_T_IQ4_NL || type == HEADSTART_T_MXFP4
        ? headstart_look(type, headstart_tile_more(type), q) : q;
}

HEADSTART_TILE void headstart_few_32(const int type, const int count, const uint8_t * row, size_t lda,
                                     const char * const x[], __m128 total[]) {
    const bool has_sign = headstart_tile_has_sign(type);
    __m256i sums[HEADSTART_FEW][4];
    for (int w = 0; w < 4; ++w) {
        const __m256i q = headstart_block_of(type, row + w * lda);
        const __m256i size = has_sign ? _mm256_sign_epi8(q, q) : q;
        for (int r = 0; r < count; ++r) {
            const __m256i numbers = _mm256_loadu_si256((const __m256i *)((const headstart_x32 *)x[r])->q);
            sums[r][w] = has_sign
                ? _mm256_madd_epi16(headstart_products(true, q, size, numbers), _mm256_set1_epi16(1))
                : headstart_dots(q, numbers);
        }
    }
    __m256 d, m;
    headstart_scales_32(type, _mm256_castsi128_si256(headstart_four_words(row, lda)), &d, &m);
    for (int r = 0; r < count; ++r) {
        const __m128i whole = _mm_add_epi32(headstart_four(sums[r][0], sums[r][1], sums[r][2], sums[r][3]),
                                            _mm_set1_epi32(-headstart_tile_more(type) * ((const headstart_x32 *)x[r])->sum));
        total[r] = _mm_fmadd_ps(_mm_mul_ps(_mm256_castps256_ps128(d), _mm_set1_ps(((const headstart_x32 *)x[r])->d)),
                                _mm_cvtepi32_ps(whole), total[r]);
        if (type == HEADSTART_T_Q4_1 || type == HEADSTART_T_Q5_1) {
            const __m128 sum = _mm_set1_ps(((const headstart_x32 *)x[r])->d * (float)((const headstart_x32 *)x[r])->sum);
            total[r] = _mm_fmadd_ps(_mm256_castps256_ps128(m), sum, total[r]);
        }
    }
}

#endif

/* Eight scales of 6 bits and eight minima of Q4_K and Q5_K, a byte each. */
HEADSTART_TILE void headstart_scales_of(const uint8_t * at, uint64_t * scales, uint64_t * least) {
    uint64_t first;
    uint32_t last;
    memcpy(&first, at, 8);
    memcpy(&last, at + 8, 4);
    const uint64_t low = first & 0x3f3f3f3f3f3f3f3full, two = 0x30303030u;
    const uint64_t high_scales = (last & 0x0f0f0f0fu) | ((first >> 2) & two);
    const uint64_t high_least = ((last >> 4) & 0x0f0f0f0fu) | ((first >> 34) & two);
    *scales = (low & 0xffffffffu) | high_scales << 32;
    *least = low >> 32 | high_least << 32;
}

/* 32 numbers of a row of weights by `count` rows. */
HEADSTART_TILE void headstart_few_add(const int type, const int count, __m256i q, __m256i scale, int block,
                                      const char * const x[], __m256i sums[]) {
    const bool has_sign = headstart_tile_is_full(type);
    const __m256i size = has_sign ? _mm256_sign_epi8(q, q) : q;
    for (int r = 0; r < count; ++r) {
        const __m256i numbers = _mm256_loadu_si256((const __m256i *)(((const headstart_x256 *)x[r])->q + 32 * block));
        sums[r] = headstart_pairs(sums[r], headstart_products(has_sign, q, size, numbers), scale);
    }
}

/* Adds the products of a block of Q4_K, Q5_K or Q6_K times their scales, which are given with 16 bits each. */
HEADSTART_TILE void headstart_few_scaled(const int type, const int count, const uint8_t * row, __m256i scales,
                                         const char * const x[], __m256i sums[]) {
#ifdef HEADSTART_WIDE
    headstart_wide_scaled(type, count, row, scales, x, sums);
#else
    if (type == HEADSTART_T_Q6_K) {
        const __m256i pairs[2] = {_mm256_permute4x64_epi64(scales, 0x44), _mm256_permute4x64_epi64(scales, 0xee)};
        for (int big = 0; big < 2; ++big) {
            const __m256i more = _mm256_loadu_si256((const __m256i *)(row + 128 + 32 * big));
            const __m256i a = _mm256_loadu_si256((const __m256i *)(row + 64 * big));
            const __m256i b = _mm256_loadu_si256((const __m256i *)(row + 64 * big + 32));
            const __m256i low[4] = {a, b, _mm256_srli_epi16(a, 4), _mm256_srli_epi16(b, 4)};
            const __m256i high[4] = {_mm256_slli_epi16(more, 4), _mm256_slli_epi16(more, 2), more,
                                     _mm256_srli_epi16(more, 2)};
            for (int j = 0; j < 4; ++j) {
                const __m256i q = _mm256_or_si256(headstart_and(low[j], 15), headstart_and(high[j], 0x30));
                /* the scale of the first 16 numbers in the lower half, of the others in the upper */
                const __m256i at = _mm256_inserti128_si256(_mm256_set1_epi16((short)(j * 0x404 + 0x100)),
                                                           _mm_set1_epi16((short)(j * 0x404 + 0x302)), 1);
                headstart_few_add(type, count, q, _mm256_shuffle_epi8(pairs[big], at), 4 * big + j, x, sums);
            }
        }
        return;
    }
    const bool five = type == HEADSTART_T_Q5_K;
    int32_t pairs[8];
    const __m256i each = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(scales));
    _mm256_storeu_si256((__m256i *)pairs, _mm256_or_si256(each, _mm256_slli_epi32(each, 16)));
    const __m256i fifth = _mm256_loadu_si256((const __m256i *)(row + 16));
    for (int j = 0; j < 4; ++j) {
        const __m256i bytes = _mm256_loadu_si256((const __m256i *)(row + (five ? 48 : 16) + 32 * j));
        __m256i low = headstart_and(bytes, 15), high = headstart_and(_mm256_srli_epi16(bytes, 4), 15);
        if (five) {
            low = _mm256_or_si256(low, _mm256_slli_epi16(headstart_and(_mm256_srli_epi16(fifth, 2 * j), 1), 4));
            high = _mm256_or_si256(high, _mm256_slli_epi16(headstart_and(_mm256_srli_epi16(fifth, 2 * j + 1), 1), 4));
        }
        headstart_few_add(type, count, low, _mm256_set1_epi32(pairs[2 * j]), 2 * j, x, sums);
        headstart_few_add(type, count, high, _mm256_set1_epi32(pairs[2 * j + 1]), 2 * j + 1, x, sums);
    }
#endif
}

/* A block of a row of weights by `count` rows: whole sums, and those of the minima. */
HEADSTART_TILE void headstart_few_row(const int type, const int count, const uint8_t * row,
                                      const char * const x[], __m256i sums[], __m128i less[]) {
    for (int r = 0; r < count; ++r) {
        sums[r] = _mm256_setzero_si256();
        less[r] = _mm_setzero_si128();
    }
    if (type == HEADSTART_T_Q4_K || type == HEADSTART_T_Q5_K) {
        uint64_t scales, least;
        headstart_scales_of(row + 4, &scales, &least);
        const __m128i lowest = _mm_cvtepu8_epi16(_mm_cvtsi64_si128((long long)least));
        for (int r = 0; r < count; ++r) {
            less[r] = _mm_madd_epi16(lowest, _mm_loadu_si128((const __m128i *)((const headstart_x256 *)x[r])->twice));
        }
        const __m128i each = _mm_cvtepu8_epi16(_mm_cvtsi64_si128((long long)scales));
        headstart_few_scaled(type, count, row, _mm256_castsi128_si256(each), x, sums);
    } else if (type == HEADSTART_T_Q6_K) {
        const __m256i scales = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(row + 192)));
        for (int r = 0; r < count; ++r) {
            /* 32 was added to each number */
            const __m256i more = _mm256_madd_epi16(scales, _mm256_loadu_si256((const __m256i *)((const headstart_x256 *)x[r])->sums));
            sums[r] = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32(more, 5));
        }
        headstart_few_scaled(type, count, row, scales, x, sums);
    } else {
        const uint32_t upper = (uint32_t)headstart_word(row) >> 16, lower = (uint32_t)headstart_word(row + 4);
        for (int i = 0; i < 8; ++i) {
            const int scale = (int)((lower >> 4 * i & 15) | (upper >> 2 * i & 3) << 4) - 32;
            const __m128i bytes = _mm_loadu_si128((const __m128i *)(row + 8 + 16 * i));
            const __m256i q = headstart_look(type, 0, headstart_and(
                _mm256_inserti128_si256(_mm256_castsi128_si256(bytes), _mm_srli_epi16(bytes, 4), 1), 15));
            headstart_few_add(type, count, q, _mm256_set1_epi16((short)scale), i, x, sums);
        }
    }
}

HEADSTART_TILE void headstart_few_256(const int type, const int count, const uint8_t * row, size_t lda,
                                      const char * const x[], __m128 total[]) {
    const bool has_least = type == HEADSTART_T_Q4_K || type == HEADSTART_T_Q5_K;
    __m256i sums[4][HEADSTART_FEW];
    __m128i less[4][HEADSTART_FEW];
    for (int w = 0; w < 4; ++w) {
        headstart_few_row(type, count, row + w * lda, x, sums[w], less[w]);
    }
    const __m128i heads = type == HEADSTART_T_Q6_K ? _mm_srli_epi32(headstart_four_words(row + 206, lda), 16)
                                                   : headstart_four_words(row, lda);
    const __m128 d = headstart_four_halves(heads), m = headstart_four_halves(_mm_srli_epi32(heads, 16));
    for (int r = 0; r < count; ++r) {
        const __m128i whole = headstart_four(sums[0][r], sums[1][r], sums[2][r], sums[3][r]);
        __m128 sum = _mm_mul_ps(d, _mm_cvtepi32_ps(whole));
        if (has_least) {
            const __m128i lowest = _mm_hadd_epi32(_mm_hadd_epi32(less[0][r], less[1][r]),
                                                  _mm_hadd_epi32(less[2][r], less[3][r]));
            sum = _mm_fnmadd_ps(m, _mm_cvtepi32_ps(lowest), sum);
        }
        total[r] = _mm_fmadd_ps(_mm_set1_ps(((const headstart_x256 *)x[r])->d), sum, total[r]);
    }
}

/* Four rows of weights, `lda` bytes apart, by `count` rows. */
HEADSTART_TILE void headstart_few(const int type, const int count, int64_t blocks, const char * a, size_t lda,
                                  const char * next, const char * const * x, __m128 total[]) {
    const size_t size = headstart_tile_block(type);
    const char * asked = next;
    for (int r = 0; r < count; ++r) {
        total[r] = _mm_setzero_ps();
    }
#ifdef HEADSTART_WIDE
    __m512 all = _mm512_setzero_ps();
#endif
    for (int64_t k = 0; k < blocks; ++k) {
        next += 4 * size;
        for (; asked < next; asked += 64) {
            _mm_prefetch(asked, _MM_HINT_T0);
        }
        const char * from[HEADSTART_FEW];
        for (int r = 0; r < count; ++r) {
            from[r] = x[r] + headstart_x_size(type, headstart_tile_is_k(type) ? 256 : 32) * k;
        }
        const uint8_t * row = (const uint8_t *)a + k * size;
        if (headstart_tile_is_k(type)) {
            headstart_few_256(type, count, row, lda, from, total);
        } else {
#ifdef HEADSTART_WIDE
            headstart_wide_32(type, count, row, lda, headstart_four_words(row, lda), from, &all);
#else
            headstart_few_32(type, count, row, lda, from, total);
#endif
        }
    }
#ifdef HEADSTART_WIDE
    if (!headstart_tile_is_k(type)) {
        headstart_columns(count, all, total);
    }
#endif
}

HEADSTART_TILE void headstart_multiply_few(const int type, int64_t begin, int64_t end, int64_t n, int64_t numbers,
                                           const char * a, size_t lda, const char * const * x,
                                           float * const * to, const char * then) {
    const int64_t blocks = numbers / (headstart_tile_is_k(type) ? 256 : 32);
    for (int64_t at = begin; at < end; at += 4) {
        /* the last rows once more where there are not four */
        const int64_t row = at + 4 <= end || end - begin < 4 ? at : end - 4;
        const size_t apart = end - begin < 4 ? 0 : lda;
        const char * next = at + 4 < end ? a + (at + 4) * lda : then;
        const char * weights = a + row * lda;
        const int64_t rounds = (n + HEADSTART_FEW - 1) / HEADSTART_FEW;
        for (int64_t round = 0; round < rounds; ++round) {
            const int64_t first = n * round / rounds, count = n * (round + 1) / rounds - first;
            const char * const * from = x + first;
            __m128 total[HEADSTART_FEW];
            switch (count) {
            case 1: headstart_few(type, 1, blocks, weights, apart, next, from, total); break;
            case 2: headstart_few(type, 2, blocks, weights, apart, next, from, total); break;
            case 3: headstart_few(type, 3, blocks, weights, apart, next, from, total); break;
            default: headstart_few(type, 4, blocks, weights, apart, next, from, total);
            }
            for (int64_t r = 0; r < count; ++r) {
                float sums[4];
                _mm_storeu_ps(sums, total[r]);
                memcpy(to[first + r] + row, sums, apart ? sizeof(sums) : sizeof(*sums));
            }
        }
        if (!apart) {
            at -= 3;
        }
    }
}

/* Rows up to which that is faster than a tile. Measured with two threads on a Zen 3, and with more than
 * AVX2 on a Xeon of the fourth generation. */
HEADSTART_TILE int headstart_few_of(const int type) {
#ifdef HEADSTART_WIDE
    switch (type) {
    case HEADSTART_T_Q5_0: return 1;
    case HEADSTART_T_Q4_K: return 2;
    case HEADSTART_T_Q5_K: return 3;
    case HEADSTART_T_Q8_0: return 4;
    case HEADSTART_T_Q6_K: return 5;
    default: return 0;
    }
#elif defined(HEADSTART_DOTS)
    switch (type) {
    case HEADSTART_T_Q8_0: return 2;
    case HEADSTART_T_Q4_K: case HEADSTART_T_Q5_K: return 3;
    case HEADSTART_T_Q6_K: return 4;
    default: return 0;
    }
#else
    switch (type) {
    case HEADSTART_T_MXFP4: return 0;
    case HEADSTART_T_Q4_0: case HEADSTART_T_Q4_1: case HEADSTART_T_Q5_0: case HEADSTART_T_Q5_1: return 1;
    case HEADSTART_T_Q8_0: case HEADSTART_T_Q6_K: return 8;
    default: return 3;
    }
#endif
}
#endif
