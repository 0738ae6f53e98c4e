/* What AVX-512 and AVX-VNNI do, in AVX2: x86_rows.h as it is compiled for processors that have them,
 * on one that has not. Only what is used there; each lane is computed as Intel describes it. */
#pragma once
#include <immintrin.h>
#include <stdint.h>

#define __AVX512VNNI__ 1
#define __AVX512VL__ 1
#ifdef HEADSTART_EMULATE_512
#define __AVX512F__ 1
#define __AVX512BW__ 1
#define __AVX512DQ__ 1
#endif

/* four products of unsigned and signed bytes are added to each number, none of it saturates */
static inline __m256i emulated_dpbusd_256(__m256i sum, __m256i a, __m256i b) {
    int32_t s[8];
    uint8_t x[32];
    int8_t y[32];
    _mm256_storeu_si256((__m256i *)s, sum);
    _mm256_storeu_si256((__m256i *)x, a);
    _mm256_storeu_si256((__m256i *)y, b);
    for (int i = 0; i < 32; ++i) {
        s[i / 4] += (int32_t)x[i] * y[i];
    }
    return _mm256_loadu_si256((const __m256i *)s);
}
#undef _mm256_dpbusd_epi32
#define _mm256_dpbusd_epi32 emulated_dpbusd_256

#ifdef HEADSTART_EMULATE_512
typedef struct { __m256i low, high; } emulated_512i;
typedef struct { __m256 low, high; } emulated_512;
#define __m512i emulated_512i
#define __m512 emulated_512

#define EMULATED static inline
EMULATED emulated_512i both_i(__m256i x) { return (emulated_512i){x, x}; }
EMULATED emulated_512 both(__m256 x) { return (emulated_512){x, x}; }
EMULATED emulated_512i sub_512(emulated_512i a, emulated_512i b) {
    return (emulated_512i){_mm256_sub_epi32(a.low, b.low), _mm256_sub_epi32(a.high, b.high)};
}
EMULATED emulated_512i dpbusd_512(emulated_512i s, emulated_512i a, emulated_512i b) {
    return (emulated_512i){emulated_dpbusd_256(s.low, a.low, b.low),
                           emulated_dpbusd_256(s.high, a.high, b.high)};
}
EMULATED emulated_512i load_512i(const void * p) {
    const __m256i * from = p;
    return (emulated_512i){_mm256_loadu_si256(from), _mm256_loadu_si256(from + 1)};
}
EMULATED emulated_512 load_512(const float * p) {
    return (emulated_512){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
EMULATED emulated_512 mul_512(emulated_512 a, emulated_512 b) {
    return (emulated_512){_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}
EMULATED emulated_512 fmadd_512(emulated_512 a, emulated_512 b, emulated_512 c) {
    return (emulated_512){_mm256_fmadd_ps(a.low, b.low, c.low),
                          _mm256_fmadd_ps(a.high, b.high, c.high)};
}
EMULATED emulated_512 convert_512(emulated_512i a) {
    return (emulated_512){_mm256_cvtepi32_ps(a.low), _mm256_cvtepi32_ps(a.high)};
}
#undef _mm512_setzero_si512
#undef _mm512_setzero_ps
#undef _mm512_set1_epi8
#undef _mm512_set1_ps
#undef _mm512_broadcast_i64x4
#undef _mm512_sub_epi32
#undef _mm512_dpbusd_epi32
#undef _mm512_loadu_si512
#undef _mm512_loadu_ps
#undef _mm512_mul_ps
#undef _mm512_fmadd_ps
#undef _mm512_cvtepi32_ps
#undef _mm512_castps512_ps256
#undef _mm512_extractf32x8_ps
#define _mm512_setzero_si512() both_i(_mm256_setzero_si256())
#define _mm512_setzero_ps() both(_mm256_setzero_ps())
#define _mm512_set1_epi8(x) both_i(_mm256_set1_epi8(x))
#define _mm512_set1_ps(x) both(_mm256_set1_ps(x))
#define _mm512_broadcast_i64x4(x) both_i(x)
#define _mm512_sub_epi32 sub_512
#define _mm512_dpbusd_epi32 dpbusd_512
#define _mm512_loadu_si512 load_512i
#define _mm512_loadu_ps load_512
#define _mm512_mul_ps mul_512
#define _mm512_fmadd_ps fmadd_512
#define _mm512_cvtepi32_ps convert_512
#define _mm512_castps512_ps256(x) ((x).low)
#define _mm512_extractf32x8_ps(x, i) ((i) ? (x).high : (x).low)
#endif
