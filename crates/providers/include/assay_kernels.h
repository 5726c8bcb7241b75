/*
 * The C interface of kernels under test, version 1.
 *
 * A provider is a shared library that exports the functions below. Assay loads it in a process of its own, asks
 * what it promises (assay_contract), and judges what it computes. The page docs/write-a-provider.md begins with
 * a provider of a hundred lines and goes on to what to promise and how to read a failure.
 *
 * What a provider gets
 *
 *   Blocks      are laid out as ggml lays them out, little-endian. Their address is a multiple of what the widest
 *               number in a block needs, and of no more: 2 where a block has a binary16, 4 for ASSAY_TYPE_F32,
 *               ASSAY_TYPE_I32 and ASSAY_TYPE_Q8_K, 8 for ASSAY_TYPE_F64 and ASSAY_TYPE_I64, 1 for the others
 *               (ASSAY_TYPE_MXFP4, ASSAY_TYPE_NVFP4, ASSAY_TYPE_I8). Strides between rows are multiples of the same.
 *   Numbers     (float, uint32_t) are aligned to 4 bytes and in the byte order of the machine.
 *   Counts      are of weights, not of blocks, and always those of whole blocks; none is 0. Ids name what exists.
 *               Assay checks all of this before it calls.
 *   Memory      belongs to the caller. A provider keeps no pointer beyond the call, writes nothing but results,
 *               and reads nothing past the end of an operand, but for the bytes that its contract names. The end
 *               of an operand is the end of its last row or column, without what would fill the stride.
 *               Every operand is read-only and ends where a page begins that may not be read.
 *   Threads     Calls come one after the other, from one thread. A provider may use threads of its own, at most
 *               as many as a call allows, and none of them touches an operand or a result after the call.
 *   Streams     What is written to standard output goes to standard error, whose last lines are shown when the
 *               provider fails. Standard input is empty.
 *
 * What a provider answers
 *
 *   Every operation returns 0 when it is done, or one of the other codes. After any of those the result is not
 *   looked at. What is between the columns of a result (where the stride is larger than a column) is left as it is.
 */
#ifndef ASSAY_KERNELS_H
#define ASSAY_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. */
#define ASSAY_KERNELS_ABI 1

/* What an operation returns. Any other number is a failure, too, and is shown. */
#define ASSAY_OK 0
#define ASSAY_UNSUPPORTED 1   /* there is no kernel for this type, shape or number of columns */
#define ASSAY_BAD_ARGUMENTS 2 /* the arguments do not fit each other */
#define ASSAY_FAILED 3        /* anything else, such as no memory */

/* Operations, for assay_contract. */
#define ASSAY_OP_DEQUANTIZE 0
#define ASSAY_OP_QUANTIZE_ROW 1
#define ASSAY_OP_DOT 2
#define ASSAY_OP_MATMUL 3
#define ASSAY_OP_MATMUL_ID 4
#define ASSAY_OP_GET_ROWS 5

/*
 * Forms in which operands are multiplied. Rounding is to nearest, and of two that are equally near either is right.
 * In blocks of Q8_0, Q8_1 and Q8_K the scale is the largest magnitude of the block over 127; of Q8_0 and Q8_1 it may be
 * kept as a binary32 or rounded to a binary16, and the codes made with the scale before or after that. Activations in
 * other blocks (one scale for a row or for 128 elements, a zero point) have no form: docs/write-a-provider.md says what
 * to answer.
 */
#define ASSAY_FORM_EXACT 0 /* weights: their exact value; activations: binary32 */
#define ASSAY_FORM_F16 1   /* rounded to binary16 */
#define ASSAY_FORM_BF16 2  /* rounded to the upper half of a binary32 */
#define ASSAY_FORM_Q8_0 3  /* blocks of ASSAY_TYPE_Q8_0 */
#define ASSAY_FORM_Q8_1 4  /* blocks of ASSAY_TYPE_Q8_1 */
#define ASSAY_FORM_Q8_K 5  /* blocks of ASSAY_TYPE_Q8_K */

/*
 * What products are added up in. Integers inside a block are exact and need no word: sums that saturate, in 16 bits for
 * instance, are not, and no contract excuses them.
 */
#define ASSAY_ACCUMULATE_F32 0
#define ASSAY_ACCUMULATE_F16 1 /* binary16 over at most `chunk` products, binary32 beyond */
#define ASSAY_ACCUMULATE_F64 2 /* binary64, rounded to binary32 at the end */

/* Bits of `flags` in a contract. */
#define ASSAY_FLUSHES_SUBNORMALS 1u /* subnormal operands or results may become zero */
#define ASSAY_BATCH_INVARIANT 2u    /* a column has the same bits alone as among others */
#define ASSAY_SPLIT_INVARIANT 4u    /* rows have the same bits together or in parts, with any number of threads */
#define ASSAY_REPEATABLE 8u         /* the same call has the same bits again */

/* Types of blocks: the numbers of ggml_type. */
#define ASSAY_TYPE_F32      0
#define ASSAY_TYPE_F16      1
#define ASSAY_TYPE_Q4_0     2
#define ASSAY_TYPE_Q4_1     3
#define ASSAY_TYPE_Q5_0     6
#define ASSAY_TYPE_Q5_1     7
#define ASSAY_TYPE_Q8_0     8
#define ASSAY_TYPE_Q8_1     9
#define ASSAY_TYPE_Q2_K     10
#define ASSAY_TYPE_Q3_K     11
#define ASSAY_TYPE_Q4_K     12
#define ASSAY_TYPE_Q5_K     13
#define ASSAY_TYPE_Q6_K     14
#define ASSAY_TYPE_Q8_K     15
#define ASSAY_TYPE_IQ2_XXS  16
#define ASSAY_TYPE_IQ2_XS   17
#define ASSAY_TYPE_IQ3_XXS  18
#define ASSAY_TYPE_IQ1_S    19
#define ASSAY_TYPE_IQ4_NL   20
#define ASSAY_TYPE_IQ3_S    21
#define ASSAY_TYPE_IQ2_S    22
#define ASSAY_TYPE_IQ4_XS   23
#define ASSAY_TYPE_I8       24
#define ASSAY_TYPE_I16      25
#define ASSAY_TYPE_I32      26
#define ASSAY_TYPE_I64      27
#define ASSAY_TYPE_F64      28
#define ASSAY_TYPE_IQ1_M    29
#define ASSAY_TYPE_BF16     30
#define ASSAY_TYPE_TQ1_0    34
#define ASSAY_TYPE_TQ2_0    35
#define ASSAY_TYPE_MXFP4    39
#define ASSAY_TYPE_NVFP4    40
#define ASSAY_TYPE_Q1_0     41
#define ASSAY_TYPE_Q2_0     42

/*
 * What a right kernel of this provider may do, for one operation, one type and a number of columns. 32 bytes.
 * The bounds of the judgement are derived from it; what it does not say, a kernel may not do. All fields are 0
 * when assay_contract is called, which says: exact operands, added up in binary32, nothing else. Decoding
 * (ASSAY_OP_DEQUANTIZE, ASSAY_OP_GET_ROWS) has one right result, bit for bit, whatever the terms say: only reads_past
 * means something there; for ASSAY_OP_QUANTIZE_ROW, that and ASSAY_FLUSHES_SUBNORMALS.
 */
struct assay_terms {
    uint32_t weights;     /* ASSAY_FORM_EXACT, _F16 or _BF16 */
    uint32_t activations; /* ASSAY_FORM_* */
    uint32_t accumulator; /* ASSAY_ACCUMULATE_* */
    uint32_t chunk;       /* with ASSAY_ACCUMULATE_F16, at least 1; else 0 */
    uint32_t flags;       /* ASSAY_FLUSHES_SUBNORMALS and so on, added */
    uint32_t reserved;    /* 0 */
    uint64_t reads_past;  /* bytes that may be read past the end of the weights and of each other operand; at
                             most 65536 */
};

/*
 * A matrix of weights with columns of activations:
 *
 *   y[c * y_stride + r] = sum over i < k of w(r, i) * x[c * x_stride + i]
 *
 * where row r of the weights begins r * row_stride bytes into them. 80 bytes.
 */
struct assay_matmul_args {
    uint32_t type;       /* of the weights, ASSAY_TYPE_* */
    uint32_t threads;    /* that may be used, at least 1 */
    uint64_t rows;       /* of the weights */
    uint64_t k;          /* weights a row */
    uint64_t row_stride; /* bytes, at least those of a row */
    uint64_t columns;    /* of the activations */
    uint64_t x_stride;   /* elements, at least k */
    uint64_t y_stride;   /* elements, at least rows */
    const void *weights;
    const float *x;
    float *y;
};

/*
 * The same with one of several matrices for each column, as in a mixture of experts. There are `pairs` of a token
 * and an expert, `used` of them for each token, and a column of the result for each pair p:
 *
 *   y[p * y_stride + r] = sum over i < k of w(ids[p], r, i) * x[c * x_stride + i]
 *
 * where c is p if columns == pairs, and p / used if columns == pairs / used. Expert e begins e * expert_stride
 * bytes into the weights. 120 bytes.
 */
struct assay_matmul_id_args {
    uint32_t type;
    uint32_t threads;
    uint64_t rows;          /* of an expert */
    uint64_t k;
    uint64_t row_stride;
    uint64_t experts;
    uint64_t expert_stride; /* bytes, at least those of an expert */
    uint64_t pairs;
    uint64_t used;          /* divides pairs */
    uint64_t columns;       /* pairs, or pairs / used */
    uint64_t x_stride;
    uint64_t y_stride;
    const void *weights;
    const uint32_t *ids;    /* pairs of them, each less than experts; those of one token differ */
    const float *x;
    float *y;
};

/* Chosen rows of a matrix, decoded: y[n * k + i] = w(ids[n], i). 64 bytes. */
struct assay_get_rows_args {
    uint32_t type;
    uint32_t reserved;    /* 0 */
    uint64_t rows;        /* of the matrix */
    uint64_t k;
    uint64_t row_stride;
    uint64_t count;       /* rows that are chosen */
    const void *weights;
    const uint32_t *ids;  /* count of them, each less than rows */
    float *y;             /* count * k elements */
};

/* These sizes are part of the interface: on machines with pointers of 64 bits. */
#if UINTPTR_MAX == UINT64_MAX
#if defined(__cplusplus)
#define ASSAY_SIZE(type, bytes) static_assert(sizeof(type) == bytes, "the layout of " #type)
#else
#define ASSAY_SIZE(type, bytes) _Static_assert(sizeof(type) == bytes, "the layout of " #type)
#endif
ASSAY_SIZE(struct assay_terms, 32);
ASSAY_SIZE(struct assay_matmul_args, 80);
ASSAY_SIZE(struct assay_matmul_id_args, 120);
ASSAY_SIZE(struct assay_get_rows_args, 64);
#undef ASSAY_SIZE
#endif

#if defined(_WIN32)
#define ASSAY_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define ASSAY_EXPORT __attribute__((visibility("default")))
#else
#define ASSAY_EXPORT
#endif

/* Required. */

/* ASSAY_KERNELS_ABI as the provider was compiled with it. Called first; the other functions only if it is known. */
ASSAY_EXPORT uint32_t assay_kernels_abi(void);

/* A name for tables, such as "mykernels 1.2 avx2": a line of at most 100 bytes
 * of UTF-8, ends with a zero, lives as long as the library. */
ASSAY_EXPORT const char *assay_kernels_name(void);

/*
 * Fills the terms for an operation, a type and a number of columns (1 for operations without), and returns
 * ASSAY_OK; or returns ASSAY_UNSUPPORTED. An operation is only called if this gave terms for it. The answer is
 * the same each time.
 */
ASSAY_EXPORT int32_t assay_contract(uint32_t operation, uint32_t type, uint64_t columns, struct assay_terms *terms);

/* Blocks to weights: `count` of them. */
ASSAY_EXPORT int32_t assay_dequantize(uint32_t type, const void *blocks, uint64_t count, float *weights);

/* A row of `count` activations to blocks of a type in which activations are held. */
ASSAY_EXPORT int32_t assay_quantize_row(uint32_t type, const float *activations, uint64_t count, void *blocks);

/* One row of weights with as many activations, which the provider brings into the form of its contract. */
ASSAY_EXPORT int32_t assay_dot(uint32_t type, const void *weights, const float *activations, uint64_t count,
                               float *result);

ASSAY_EXPORT int32_t assay_matmul(const struct assay_matmul_args *product);

/* Optional: a provider that does not export them has none. */

ASSAY_EXPORT int32_t assay_matmul_id(const struct assay_matmul_id_args *product);
ASSAY_EXPORT int32_t assay_get_rows(const struct assay_get_rows_args *rows);

#ifdef __cplusplus
}
#endif

#endif
