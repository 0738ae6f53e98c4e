/* Types of weights as llama.cpp has them in files, and the rows of numbers that meet them; for x86 with
 * AVX2, and more where the processor has it.
 *
 * Rows are made 8 bits a number as in llama.cpp, but their scales stay single precision.
 */
#pragma once
#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define HEADSTART_TILES 1
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) \
    && defined(__AVX512VNNI__)
/* Registers of 512 bits; the first processors with them slow down when they are used. */
#define HEADSTART_WIDE 1
#endif
#if defined(HEADSTART_WIDE) || defined(__AVXVNNI__)
/* Products of four bytes each are added to whole numbers of 32 bits at once. */
#define HEADSTART_DOTS 1
#endif
#include <immintrin.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HEADSTART_TILE static inline __attribute__((always_inline))
/* Compilers like to add whole numbers up in another order, which takes more registers than there are. */
#ifdef __AVX512F__
#define HEADSTART_IN_ORDER(x) __asm__("" : "+v"(x))
#else
#define HEADSTART_IN_ORDER(x) __asm__("" : "+x"(x))
#endif
/* They like to read a number from memory each time that it is used, too. */
#define HEADSTART_IN_REGISTER(x) HEADSTART_IN_ORDER(x)
#ifdef HEADSTART_WIDE
#define HEADSTART_LANES 16
typedef __m512 headstart_reals;
typedef __m512i headstart_ints;
#define headstart_all(name) _mm512_##name
#else
#define HEADSTART_LANES 8
typedef __m256 headstart_reals;
typedef __m256i headstart_ints;
#define headstart_all(name) _mm256_##name
#endif
/* ggml's numbers of types */
enum {
    HEADSTART_T_F32 = 0, HEADSTART_T_F16 = 1, HEADSTART_T_BF16 = 30,
    HEADSTART_T_Q4_0 = 2, HEADSTART_T_Q4_1 = 3, HEADSTART_T_Q5_0 = 6, HEADSTART_T_Q5_1 = 7,
    HEADSTART_T_Q8_0 = 8, HEADSTART_T_Q4_K = 12, HEADSTART_T_Q5_K = 13, HEADSTART_T_Q6_K = 14,
    HEADSTART_T_IQ4_NL = 20, HEADSTART_T_IQ4_XS = 23, HEADSTART_T_MXFP4 = 39,
};
/* Rows of numbers in 8 bits: blocks of 32 with their sum, */
typedef struct { int8_t q[32]; float d; int32_t sum; } headstart_x32;
/* and of 256 with the sums of each 16, and of each 32. */
typedef struct { int8_t q[256]; int16_t sums[16], twice[8]; float d; } headstart_x256;

HEADSTART_TILE size_t headstart_tile_block(const int type) {
    switch (type) {
    case HEADSTART_T_Q4_0: case HEADSTART_T_IQ4_NL: return 18;
    case HEADSTART_T_Q4_1: return 20;
    case HEADSTART_T_Q5_0: return 22;
    case HEADSTART_T_Q5_1: return 24;
    case HEADSTART_T_Q8_0: return 34;
    case HEADSTART_T_MXFP4: return 17;
    case HEADSTART_T_Q4_K: return 144;
    case HEADSTART_T_Q5_K: return 176;
    case HEADSTART_T_Q6_K: return 210;
    case HEADSTART_T_IQ4_XS: return 136;
    default: return 0;
    }
}

/* Whether blocks have 256 numbers. */
HEADSTART_TILE bool headstart_tile_is_k(const int type) {
    return type == HEADSTART_T_Q4_K || type == HEADSTART_T_Q5_K || type == HEADSTART_T_Q6_K
        || type == HEADSTART_T_IQ4_XS;
}

/* True where a number with its sign can take all of 8 bits. */
HEADSTART_TILE bool headstart_tile_is_full(const int type) {
    return type == HEADSTART_T_Q8_0 || type == HEADSTART_T_IQ4_NL || type == HEADSTART_T_IQ4_XS;
}

/* True where numbers keep their sign: 16 bits have no room for products with what is made positive. */
HEADSTART_TILE bool headstart_tile_has_sign(const int type) {
#ifdef HEADSTART_DOTS
    (void)type;
    return false;
#else
    return headstart_tile_is_full(type);
#endif
}

/* What was added to each number to make it positive. */
HEADSTART_TILE int headstart_tile_more(const int type) {
    return type == HEADSTART_T_Q4_0 ? 8 : type == HEADSTART_T_Q5_0 ? 16 : type == HEADSTART_T_Q6_K ? 32
        : type == HEADSTART_T_MXFP4 ? 12 : headstart_tile_is_full(type) && !headstart_tile_has_sign(type) ? 128 : 0;
}

/* Products of four numbers that 16 bits have room for: of 2 * number * 127 each. */
HEADSTART_TILE int headstart_tile_room(const int type) {
    switch (type) {
    case HEADSTART_T_Q4_0: case HEADSTART_T_Q4_1: case HEADSTART_T_Q4_K: return 8;
    case HEADSTART_T_Q5_0: case HEADSTART_T_Q5_1: case HEADSTART_T_Q5_K: case HEADSTART_T_MXFP4: return 4;
    case HEADSTART_T_Q6_K: return 2;
    default: return 1;
    }
}

/* 16 bytes of eight rows: out[i] has the i-th four bytes of each. */
HEADSTART_TILE void headstart_turn(const uint8_t * const rows[8], size_t at, __m256i out[4]) {
    __m256i a[4];
    for (int r = 0; r < 4; ++r) {
        a[r] = _mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(rows[r] + at))),
            _mm_loadu_si128((const __m128i *)(rows[r + 4] + at)), 1);
    }
    const __m256i low = _mm256_unpacklo_epi32(a[0], a[1]), high = _mm256_unpackhi_epi32(a[0], a[1]);
    const __m256i low2 = _mm256_unpacklo_epi32(a[2], a[3]), high2 = _mm256_unpackhi_epi32(a[2], a[3]);
    out[0] = _mm256_unpacklo_epi64(low, low2);
    out[1] = _mm256_unpackhi_epi64(low, low2);
    out[2] = _mm256_unpacklo_epi64(high, high2);
    out[3] = _mm256_unpackhi_epi64(high, high2);
}

HEADSTART_TILE int32_t headstart_word(const void * at) {
    int32_t word;
    memcpy(&word, at, sizeof(word));
    return word;
}

HEADSTART_TILE __m256i headstart_every(const void * at) {
    return _mm256_set1_epi32(headstart_word(at));
}

/* Four bytes of each of eight rows. */
HEADSTART_TILE __m256i headstart_words(const uint8_t * const rows[8], size_t at) {
    return _mm256_setr_epi32(headstart_word(rows[0] + at), headstart_word(rows[1] + at),
                             headstart_word(rows[2] + at), headstart_word(rows[3] + at),
                             headstart_word(rows[4] + at), headstart_word(rows[5] + at),
                             headstart_word(rows[6] + at), headstart_word(rows[7] + at));
}

/* The low half of each word, as a number of half precision. */
HEADSTART_TILE __m256 headstart_halves(__m256i words) {
    const __m256i low = _mm256_and_si256(words, _mm256_set1_epi32(0xffff));
    return _mm256_cvtph_ps(_mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1)));
}

/* Two bytes of each word as 16 bits each: positive, or with a sign. */
HEADSTART_TILE __m256i headstart_pair_of(__m256i words, int first, int second, const bool is_signed) {
    const int word = is_signed ? first << 8 | second << 24 | 0x800080
                               : first | second << 16 | (int)0x80008000u;
    const __m256i at = _mm256_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c, 0, 0x04040404, 0x08080808, 0x0c0c0c0c);
    const __m256i mask = _mm256_set1_epi32(is_signed ? (int)0xff00ff00u : 0x00ff00ff);
    const __m256i pair = _mm256_shuffle_epi8(
        words, _mm256_add_epi32(_mm256_and_si256(at, mask), _mm256_set1_epi32(word)));
    return is_signed ? _mm256_srai_epi16(pair, 8) : pair;
}

HEADSTART_TILE __m256i headstart_and(__m256i x, int mask) {
    return _mm256_and_si256(x, _mm256_set1_epi8((char)mask));
}

/* Numbers of 8 bits with what is added to them. */
HEADSTART_TILE __m256i headstart_positive(const int type, __m256i q) {
    return headstart_tile_more(type) == 128 ? _mm256_xor_si256(q, _mm256_set1_epi8((char)0x80)) : q;
}

/* The numbers that nibbles stand for, with `more` added: as a table, and those of some nibbles. */
HEADSTART_TILE __m256i headstart_values_of(const int type, const int more) {
    const __m128i values = type == HEADSTART_T_MXFP4
        ? _mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12)
        : _mm_setr_epi8(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113);
    return _mm256_broadcastsi128_si256(_mm_add_epi8(values, _mm_set1_epi8((char)more)));
}

HEADSTART_TILE __m256i headstart_look(const int type, const int more, __m256i nibbles) {
    return _mm256_shuffle_epi8(headstart_values_of(type, more), nibbles);
}

HEADSTART_TILE void headstart_scales_32(const int type, __m256i heads, __m256 * d, __m256 * m) {
    if (type == HEADSTART_T_MXFP4) {
        /* half of 2^(e - 127), as its numbers are twice what they mean; 0 and 1 are below the normal ones */
        const __m256i e = _mm256_and_si256(heads, _mm256_set1_epi32(0xff));
        const __m256i tiny = _mm256_sllv_epi32(_mm256_set1_epi32(0x200000), e);
        const __m256i usual = _mm256_slli_epi32(_mm256_sub_epi32(e, _mm256_set1_epi32(1)), 23);
        const __m256i is_tiny = _mm256_cmpgt_epi32(_mm256_set1_epi32(2), e);
        *d = _mm256_castsi256_ps(_mm256_blendv_epi8(usual, tiny, is_tiny));
    } else {
        *d = headstart_halves(heads);
    }
    if (type == HEADSTART_T_Q4_1 || type == HEADSTART_T_Q5_1) {
        *m = headstart_halves(_mm256_srli_epi32(heads, 16));
    }
}

HEADSTART_TILE __m256i headstart_products(const bool has_sign, __m256i q, __m256i size, __m256i x) {
    return has_sign ? _mm256_maddubs_epi16(size, _mm256_sign_epi8(x, q)) : _mm256_maddubs_epi16(q, x);
}

/* `sum` and the products of pairs of 16 bits. */
HEADSTART_TILE __m256i headstart_pairs(__m256i sum, __m256i a, __m256i b) {
#ifdef HEADSTART_WIDE
    return _mm256_dpwssd_epi32(sum, a, b);
#elif defined(HEADSTART_DOTS)
    return _mm256_dpwssd_avx_epi32(sum, a, b);
#else
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
#endif
}

/* The sums of four products of positive numbers and such with a sign each. */
HEADSTART_TILE __m256i headstart_dots(__m256i q, __m256i x) {
#ifdef HEADSTART_WIDE
    return _mm256_dpbusd_epi32(_mm256_setzero_si256(), q, x);
#elif defined(HEADSTART_DOTS)
    return _mm256_dpbusd_avx_epi32(_mm256_setzero_si256(), q, x);
#else
    return _mm256_madd_epi16(_mm256_maddubs_epi16(q, x), _mm256_set1_epi16(1));
#endif
}

HEADSTART_TILE size_t headstart_float_size(const int type) {
    return type == HEADSTART_T_F32 ? 4 : 2;
}

/* Whether rows of numbers stay in single precision. */
static inline bool headstart_is_float(int type) {
    return type == HEADSTART_T_F32 || type == HEADSTART_T_F16 || type == HEADSTART_T_BF16;
}

HEADSTART_TILE size_t headstart_x_size(const int type, int64_t numbers) {
    return headstart_tile_is_k(type) ? numbers / 256 * sizeof(headstart_x256) : numbers / 32 * sizeof(headstart_x32);
}

/* 32 numbers in 8 bits: their largest is 127. Writes q, and gives the scale. */
HEADSTART_TILE float headstart_round(const float * from, float most, int8_t * q) {
    const __m256 times = _mm256_set1_ps(most > 0 ? 127.0f / most : 0.0f);
    __m256i part[4];
    for (int i = 0; i < 4; ++i) {
        part[i] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(from + 8 * i), times));
    }
    const __m256i packed = _mm256_packs_epi16(_mm256_packs_epi32(part[0], part[1]), _mm256_packs_epi32(part[2], part[3]));
    _mm256_storeu_si256((__m256i *)q, _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
    return most / 127.0f;
}

HEADSTART_TILE float headstart_most(const float * from, int count) {
    const __m256 positive = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    __m256 most = _mm256_setzero_ps();
    for (int i = 0; i < count; i += 8) {
        most = _mm256_max_ps(_mm256_and_ps(_mm256_loadu_ps(from + i), positive), most);
    }
    __m128 half = _mm_max_ps(_mm256_castps256_ps128(most), _mm256_extractf128_ps(most, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
}

/* The sums of 16 and 16 numbers. */
HEADSTART_TILE void headstart_add_up(const int8_t * q, int32_t sums[2]) {
    const __m256i x = _mm256_loadu_si256((const __m256i *)q);
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), x);
    __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    fours = _mm256_hadd_epi32(fours, fours);
    fours = _mm256_hadd_epi32(fours, fours);
    sums[0] = _mm256_extract_epi32(fours, 0);
    sums[1] = _mm256_extract_epi32(fours, 4);
}

/* Part of a row in 8 bits, whole blocks of it. */
static inline void headstart_make_x(int type, const float * from, int64_t numbers, char * to) {
    if (headstart_tile_is_k(type)) {
        headstart_x256 * x = (headstart_x256 *)to;
        for (int64_t k = 0; k < numbers; k += 256, ++x) {
            const float most = headstart_most(from + k, 256);
            for (int i = 0; i < 8; ++i) {
                int32_t sums[2];
                x->d = headstart_round(from + k + 32 * i, most, x->q + 32 * i);
                headstart_add_up(x->q + 32 * i, sums);
                x->sums[2 * i] = (int16_t)sums[0];
                x->sums[2 * i + 1] = (int16_t)sums[1];
                x->twice[i] = (int16_t)(sums[0] + sums[1]);
            }
        }
        return;
    }
    headstart_x32 * x = (headstart_x32 *)to;
    for (int64_t k = 0; k < numbers; k += 32, ++x) {
        int32_t sums[2];
        x->d = headstart_round(from + k, headstart_most(from + k, 32), x->q);
        headstart_add_up(x->q, sums);
        x->sum = sums[0] + sums[1];
    }
}
#endif
