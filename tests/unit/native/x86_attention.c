/* x86_attention.h as a library for its test. */
#include "x86_attention.h"

/* Attention of n rows of dk numbers over cells, in groups of so many rows; a row of out has dv numbers. */
void attend(int k_type, int v_type, int64_t dk, int64_t dv, const char * k, size_t k_step, const char * v,
            size_t v_step, float scale, float cap, int64_t n, int64_t together, int64_t cells, const float * q,
            const uint16_t * mask, const float * slopes, const float * sink, float * out) {
    const headstart_keys keys = {
        .k_type = k_type, .v_type = v_type, .dk = dk, .dv = dv, .k = k, .v = v, .k_step = k_step, .v_step = v_step,
        .scale = scale, .cap = cap,
    };
    char * memory = malloc(headstart_attend_size(&keys));
    for (int64_t first = 0; first < n; first += together) {
        headstart_query queries[HEADSTART_ROWS_TOGETHER];
        const int64_t rows = n - first < together ? n - first : together;
        for (int64_t r = 0; r < rows; ++r) {
            queries[r].q = q + (first + r) * dk;
            queries[r].mask = mask == NULL ? NULL : mask + (first + r) * cells;
            queries[r].slope = slopes[first + r];
            queries[r].sink = sink;
            queries[r].out = out + (first + r) * dv;
        }
        headstart_attend(&keys, queries, (int)rows, cells, memory);
    }
    free(memory);
}
