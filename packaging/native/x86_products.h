/* Puts x86_weights.h and x86_attention.h in llama.cpp's place: its product of two tensors asks
 * `ggml_compute_forward_mul_mat_tiled` first, and reserves memory for that; attention is one function.
 */
#pragma once
#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
/* found where llama.cpp's library for processors is compiled, and nowhere else */
#if __has_include("ggml-cpu-impl.h")
#include "ggml.h"
#ifdef __cplusplus
/* Weights that are multiplied here stay as they are in the file: what llama.cpp would make another
 * arrangement of for AVX2 is said not to have it. `cur` is the tensor that it asks for. */
static const struct ggml_tensor * const cur = nullptr;
static inline bool headstart_rearranges(const struct ggml_tensor * tensor) {
    return tensor == nullptr || tensor->ne[2] > 1 || tensor->ne[3] > 1
        || (tensor->type != GGML_TYPE_Q4_0 && tensor->type != GGML_TYPE_Q4_K && tensor->type != GGML_TYPE_IQ4_NL
            && tensor->type != GGML_TYPE_MXFP4);
}
#define HEADSTART_HAS_AVX2_ headstart_rearranges(cur)
#define HEADSTART_HAS_AVX2_void ggml_cpu_has_avx2(void)
#define ggml_cpu_has_avx2(...) HEADSTART_HAS_AVX2_##__VA_ARGS__
#else
#include "ggml-cpu-impl.h"
#include "x86_attention.h"
#define HEADSTART_TEXT_(name) #name
#define HEADSTART_TEXT(name) HEADSTART_TEXT_(name)
extern bool headstart_llama_product(const struct ggml_compute_params *, struct ggml_tensor *)
    __asm__(HEADSTART_TEXT(__USER_LABEL_PREFIX__) "ggml_compute_forward_mul_mat_tiled");
extern size_t headstart_llama_memory(int, struct ggml_tensor *)
    __asm__(HEADSTART_TEXT(__USER_LABEL_PREFIX__) "ggml_tiled_wdata_size");
/* parts of the work for each thread: one that other programs hold up leaves the rest to others */
#define HEADSTART_PARTS 8

static inline bool headstart_multiplies(const struct ggml_tensor * dst) {
    const struct ggml_tensor * w = dst->src[0], * x = dst->src[1];
    return dst->op == GGML_OP_MUL_MAT && headstart_tiles_for(w->type) != NULL && w->extra == NULL
        && w->ne[2] == 1 && w->ne[3] == 1 && w->ne[0] % 8 == 0
        && w->nb[0] == (headstart_is_float(w->type) ? headstart_float_size(w->type) : headstart_tile_block(w->type))
        && x->type == GGML_TYPE_F32 && x->nb[0] == sizeof(float)
        && dst->type == GGML_TYPE_F32 && dst->nb[0] == sizeof(float);
}

static inline int64_t headstart_rows_of(const struct ggml_tensor * x) {
    return x->ne[1] * x->ne[2] * x->ne[3];
}

/* Memory for a row of numbers in 8 bits. */
static inline size_t headstart_step(const struct ggml_tensor * dst) {
    const int type = dst->src[0]->type;
    return headstart_is_float(type) ? 0 : headstart_x_size(type, dst->src[0]->ne[0]);
}

static inline size_t headstart_memory(int tasks, struct ggml_tensor * dst) {
    const size_t theirs = headstart_llama_memory(tasks, dst);
    if (!headstart_multiplies(dst)) {
        return theirs;
    }
    const int64_t n = headstart_rows_of(dst->src[1]);
    const size_t ours = n * (2 * sizeof(void *) + headstart_step(dst)) + 64;
    return ours > theirs ? ours : theirs;
}

/* A row of a tensor whose rows are counted through all dimensions. */
static inline char * headstart_row(const struct ggml_tensor * tensor, int64_t row) {
    const int64_t i1 = row % tensor->ne[1], more = row / tensor->ne[1];
    const int64_t i2 = more % tensor->ne[2], i3 = more / tensor->ne[2];
    return (char *)((uintptr_t)tensor->data + i1 * tensor->nb[1] + i2 * tensor->nb[2] + i3 * tensor->nb[3]);
}

static inline bool headstart_product(const struct ggml_compute_params * params, struct ggml_tensor * dst) {
    const struct ggml_tensor * w = dst->src[0], * x = dst->src[1];
    const int64_t n = headstart_rows_of(x), numbers = w->ne[0];
    if (params->use_ref || !headstart_multiplies(dst)) {
        return headstart_llama_product(params, dst);
    }
    const size_t step = headstart_step(dst);
    char * const memory = (char *)(((uintptr_t)params->wdata + 63) & ~(uintptr_t)63);
    const char ** from = (const char **)memory;
    float ** to = (float **)(memory + n * sizeof(*from));
    char * rows = memory + n * (sizeof(*from) + sizeof(*to));
    if (rows + n * step > (char *)params->wdata + params->wsize) {
        return headstart_llama_product(params, dst);
    }
    const int wide = headstart_tile_is_k(w->type) ? 256 : 32;
    const int64_t blocks = numbers / wide, all = step ? n * blocks : 0;
    const int64_t end = all * (params->ith + 1) / params->nth;
    for (int64_t at = all * params->ith / params->nth; at < end;) {
        const int64_t row = at / blocks, first = at % blocks;
        const int64_t count = blocks - first < end - at ? blocks - first : end - at;
        headstart_make_x(w->type, (const float *)headstart_row(x, row) + first * wide, count * wide,
                         rows + row * step + headstart_x_size(w->type, first * wide));
        at += count;
    }
    if (params->ith == 0) {
        for (int64_t row = 0; row < n; ++row) {
            from[row] = step ? rows + row * step : headstart_row(x, row);
            to[row] = (float *)headstart_row(dst, row);
        }
        ggml_threadpool_chunk_set(params->threadpool, params->nth);
    }
    ggml_barrier(params->threadpool);
    const int64_t m = w->ne[1], tiles = (m + HEADSTART_TILE_ROWS - 1) / HEADSTART_TILE_ROWS;
    const int64_t most = params->nth == 1 ? 1 : params->nth * HEADSTART_PARTS;
    const int64_t parts = tiles < most ? tiles : most;
    for (int64_t part = params->ith, next; part < parts; part = next) {
        /* taken before it is needed, so that its weights are fetched in time */
        next = ggml_threadpool_chunk_add(params->threadpool, 1);
        const int64_t first = tiles * part / parts * HEADSTART_TILE_ROWS;
        const int64_t last = tiles * (part + 1) / parts * HEADSTART_TILE_ROWS;
        const int64_t then = next < parts ? tiles * next / parts * HEADSTART_TILE_ROWS : first;
        headstart_tiles_for(w->type)(first, last < m ? last : m, n, numbers, (const char *)w->data, w->nb[1],
                                     from, to, (const char *)w->data + then * w->nb[1]);
    }
    return true;
}

extern void headstart_llama_attention(const struct ggml_compute_params *, struct ggml_tensor *)
    __asm__(HEADSTART_TEXT(__USER_LABEL_PREFIX__) "ggml_compute_forward_flash_attn_ext");

/* What attention is about: heads of keys and values, each with the rows of several heads of queries. */
typedef struct {
    const struct ggml_tensor * dst, * q, * k, * v, * mask, * sinks;
    /* heads of queries to one of keys, rows of numbers, cells, heads of keys in all */
    int64_t group, tokens, cells, heads;
    float scale, bias, cap;
} headstart_attention_job;

static inline headstart_attention_job headstart_attention_of(const struct ggml_tensor * dst) {
    headstart_attention_job job = {
        .dst = dst, .q = dst->src[0], .k = dst->src[1], .v = dst->src[2], .mask = dst->src[3], .sinks = dst->src[4],
    };
    job.group = job.q->ne[2] / job.k->ne[2];
    job.tokens = job.q->ne[1];
    job.cells = job.k->ne[1];
    job.heads = job.k->ne[2] * job.q->ne[3];
    memcpy(&job.scale, (const float *)dst->op_params, sizeof(float));
    memcpy(&job.bias, (const float *)dst->op_params + 1, sizeof(float));
    memcpy(&job.cap, (const float *)dst->op_params + 2, sizeof(float));
    if (job.cap != 0) {
        job.scale /= job.cap;
    }
    return job;
}

static inline size_t headstart_number_size(int type) {
    return headstart_is_float(type) ? headstart_float_size(type) : headstart_tile_block(type);
}

static inline bool headstart_attention_is_ours(const headstart_attention_job * job) {
    const struct ggml_tensor * q = job->q, * k = job->k, * v = job->v;
    return q->type == GGML_TYPE_F32 && q->nb[0] == sizeof(float) && job->dst->nb[0] == sizeof(float)
        && headstart_attends(k->type, k->ne[0]) && headstart_attends(v->type, v->ne[0])
        && k->nb[0] == headstart_number_size(k->type) && v->nb[0] == headstart_number_size(v->type)
        && k->ne[2] == v->ne[2] && k->ne[3] == v->ne[3] && q->ne[2] % k->ne[2] == 0 && q->ne[3] % k->ne[3] == 0
        && (job->mask == NULL || job->mask->type == GGML_TYPE_F16);
}

/* A head of keys and values, and `count` rows from `first` on that meet it: those of a token follow
 * each other. */
static inline headstart_keys headstart_head(const headstart_attention_job * job, int64_t head, int64_t first, int count,
                                            headstart_query * queries) {
    const struct ggml_tensor * q = job->q, * k = job->k, * v = job->v, * dst = job->dst, * mask = job->mask;
    const int64_t k2 = head % k->ne[2], q3 = head / k->ne[2], k3 = q3 / (q->ne[3] / k->ne[3]);
    const headstart_keys keys = {
        .k_type = k->type, .v_type = v->type, .dk = k->ne[0], .dv = v->ne[0],
        .k = (const char *)k->data + k2 * k->nb[2] + k3 * k->nb[3],
        .v = (const char *)v->data + k2 * v->nb[2] + k3 * v->nb[3],
        .k_step = k->nb[1], .v_step = v->nb[1], .scale = job->scale, .cap = job->cap,
    };
    const int64_t base = (int64_t)1 << (63 - __builtin_clzll((unsigned long long)q->ne[2]));
    for (int r = 0; r < count; ++r) {
        const int64_t token = (first + r) / job->group, q2 = k2 * job->group + (first + r) % job->group;
        queries[r].q = (const float *)((const char *)q->data + token * q->nb[1] + q2 * q->nb[2] + q3 * q->nb[3]);
        queries[r].mask = mask == NULL ? NULL : (const uint16_t *)(
            (const char *)mask->data + token * mask->nb[1] + q2 % mask->ne[2] * mask->nb[2] + q3 % mask->ne[3] * mask->nb[3]);
        queries[r].slope = job->bias <= 0 ? 1.0f : q2 < base ? powf(powf(2.0f, -job->bias / base), q2 + 1)
            : powf(powf(2.0f, -job->bias / 2 / base), 2 * (q2 - base) + 1);
        queries[r].sink = job->sinks == NULL ? NULL : (const float *)job->sinks->data + q2;
        queries[r].out = (float *)((char *)dst->data + ((q3 * dst->ne[2] + token) * dst->ne[1] + q2) * dst->nb[1]);
    }
    return keys;
}

/* Room for so many scores. */
static inline int64_t headstart_whole_lanes(int64_t cells) {
    return (cells + HEADSTART_LANES - 1) / HEADSTART_LANES * HEADSTART_LANES;
}

/* A few rows: threads share out the cells of all heads, then the rows, then the numbers of values. */
static inline void headstart_attention_shared(const struct ggml_compute_params * params,
                                              const headstart_attention_job * job, float * memory) {
    enum { PART = 4 * HEADSTART_CELLS, NUMBERS = 32 };
    const int rows = (int)(job->tokens * job->group);
    const int64_t step = headstart_whole_lanes(job->cells), all = job->heads * rows;
    int * tops = (int *)memory;
    float * sum = memory + all, * scores = sum + all;
    headstart_query queries[HEADSTART_ROWS_TOGETHER];
    headstart_keys keys;
    int64_t known = -1;
    const int64_t parts = (job->cells + PART - 1) / PART, units = job->heads * parts;
    char made[HEADSTART_ROWS_TOGETHER * (1024 / 32) * sizeof(headstart_x32)];
    float turned[1024 * HEADSTART_LANES];
    const char * x[HEADSTART_ROWS_TOGETHER];
    for (int64_t unit = units * params->ith / params->nth; unit < units * (params->ith + 1) / params->nth; ++unit) {
        const int64_t head = unit / parts, from = unit % parts * PART;
        const int64_t until = from + PART < job->cells ? from + PART : job->cells;
        if (head != known) {
            keys = headstart_head(job, head, 0, rows, queries);
            headstart_make_queries(&keys, queries, rows, made, x);
            known = head;
        }
        for (int64_t first = from; first < until; first += HEADSTART_CELLS) {
            const int count = (int)(until - first < HEADSTART_CELLS ? until - first : HEADSTART_CELLS);
            float * to[HEADSTART_ROWS_TOGETHER];
            for (int r = 0; r < rows; ++r) {
                to[r] = scores + (head * rows + r) * step + first;
            }
            if (headstart_seen(queries, rows, first, count)) {
                const int64_t next = first + count < until ? first + count : first;
                headstart_score(&keys, queries, rows, x, first, count, to, keys.k + next * keys.k_step, turned);
                continue;
            }
            for (int r = 0; r < rows; ++r) {
                for (int i = 0; i < headstart_whole_lanes(count); ++i) {
                    to[r][i] = -INFINITY;
                }
            }
        }
    }
    ggml_barrier(params->threadpool);
    const int64_t end = all * (params->ith + 1) / params->nth;
    for (int64_t row = all * params->ith / params->nth; row < end; row += 4) {
        const int count = (int)(end - row < 4 ? end - row : 4);
        float * from[4];
        for (int r = 0; r < count; ++r) {
            from[r] = scores + (row + r) * step;
            tops[row + r] = headstart_top(from[r], (int)job->cells, HEADSTART_NO_TOP);
            sum[row + r] = 0;
        }
        headstart_weigh(from, count, (int)job->cells, tops + row, sum + row);
    }
    ggml_barrier(params->threadpool);
    known = -1;
    const int64_t dv = job->v->ne[0], pieces = (dv + NUMBERS - 1) / NUMBERS, shares = job->heads * pieces;
    for (int64_t share = shares * params->ith / params->nth; share < shares * (params->ith + 1) / params->nth; ++share) {
        const int64_t head = share / pieces, begin = share % pieces * NUMBERS;
        const int64_t last = begin + NUMBERS < dv ? begin + NUMBERS : dv;
        float sums[HEADSTART_ROWS_TOGETHER][NUMBERS] = {{0}}, room[HEADSTART_CELLS * NUMBERS];
        if (head != known) {
            keys = headstart_head(job, head, 0, rows, queries);
            known = head;
        }
        float * weights[HEADSTART_ROWS_TOGETHER], * into[HEADSTART_ROWS_TOGETHER];
        for (int64_t first = 0; first < job->cells; first += HEADSTART_CELLS) {
            const int count = (int)(job->cells - first < HEADSTART_CELLS ? job->cells - first : HEADSTART_CELLS);
            for (int r = 0; r < rows; ++r) {
                weights[r] = scores + (head * rows + r) * step + first;
                into[r] = sums[r] - begin;
            }
            if (headstart_seen(queries, rows, first, count)) {
                headstart_add(&keys, rows, first, count, begin, last, weights, into, room);
            }
        }
        for (int r = 0; r < rows; ++r) {
            headstart_finish(queries + r, tops[head * rows + r], sum[head * rows + r], sums[r] - begin, begin, last);
        }
    }
}

static inline void headstart_attention(const struct ggml_compute_params * params, struct ggml_tensor * dst) {
    const headstart_attention_job job = headstart_attention_of(dst);
    headstart_query queries[HEADSTART_ROWS_TOGETHER];
    const headstart_keys keys = headstart_head(&job, 0, 0, 1, queries);
    const size_t size = (headstart_attend_size(&keys) + 63) / 64 * 64;
    if (params->use_ref || !headstart_attention_is_ours(&job) || size * params->nth > params->wsize) {
        headstart_llama_attention(params, dst);
        return;
    }
    const int64_t rows = job.tokens * job.group;
    const int64_t blocks = (rows + HEADSTART_ROWS_TOGETHER - 1) / HEADSTART_ROWS_TOGETHER, units = job.heads * blocks;
    /* the calling thread's, which is the first of all */
    static _Thread_local char * kept;
    static _Thread_local size_t kept_size;
    if (blocks == 1 && params->nth > 1 && units < 8 * params->nth && job.cells > HEADSTART_CELLS && keys.dk <= 1024) {
        const size_t wanted = sizeof(float) * job.heads * rows * (headstart_whole_lanes(job.cells) + 2);
        if (params->ith == 0) {
            if (wanted > kept_size) {
                free(kept);
                kept_size = wanted + wanted / 4;
                kept = malloc(kept_size);
                GGML_ASSERT(kept != NULL);
            }
            memcpy(params->wdata, &kept, sizeof(kept));
        }
        ggml_barrier(params->threadpool);
        float * memory;
        memcpy(&memory, params->wdata, sizeof(memory));
        headstart_attention_shared(params, &job, memory);
        return;
    }
    if (params->ith == 0) {
        ggml_threadpool_chunk_set(params->threadpool, params->nth);
    }
    ggml_barrier(params->threadpool);
    for (int64_t unit = params->ith; unit < units; unit = ggml_threadpool_chunk_add(params->threadpool, 1)) {
        const int64_t first = unit % blocks * HEADSTART_ROWS_TOGETHER;
        const int count = (int)(rows - first < HEADSTART_ROWS_TOGETHER ? rows - first : HEADSTART_ROWS_TOGETHER);
        const headstart_keys head = headstart_head(&job, unit / blocks, first, count, queries);
        headstart_attend(&head, queries, count, job.cells, (char *)params->wdata + size * params->ith);
    }
}
#define ggml_compute_forward_flash_attn_ext headstart_attention
#define ggml_compute_forward_mul_mat_tiled headstart_product
#define ggml_tiled_wdata_size headstart_memory
#endif
#endif
#endif
