/* Operands of reductions, and what they come to, one after the other in the order of PEs. Sums and products are of
 * small numbers: exact in every type and order. */
#ifndef REDUCE_MODEL_H
#define REDUCE_MODEL_H

#ifndef __cplusplus
#include <complex.h>
#endif

#define OPERAND_and(TYPE, pe, i) ((TYPE)(value_of(pe, 21, i) | value_of(pe, 22, i)))
#define OPERAND_or(TYPE, pe, i) ((TYPE)(value_of(pe, 23, i) & value_of(pe, 24, i) & value_of(pe, 25, i)))
#define OPERAND_xor(TYPE, pe, i) ((TYPE)value_of(pe, 26, i))
#define OPERAND_max(TYPE, pe, i) ((TYPE)(int64_t)value_of(pe, 27, i))
#define OPERAND_min(TYPE, pe, i) ((TYPE)(int64_t)value_of(pe, 28, i))
#define OPERAND_sum(TYPE, pe, i) ((TYPE)(int)(value_of(pe, 29, i) % 40 - 10))
#define OPERAND_prod(TYPE, pe, i) ((TYPE)(int)(value_of(pe, 30, i) % 3 + 1))

#define FOLD_and(TYPE, a, b) ((TYPE)((a) & (b)))
#define FOLD_or(TYPE, a, b) ((TYPE)((a) | (b)))
#define FOLD_xor(TYPE, a, b) ((TYPE)((a) ^ (b)))
#define FOLD_max(TYPE, a, b) ((a) > (b) ? (a) : (b))
#define FOLD_min(TYPE, a, b) ((a) < (b) ? (a) : (b))
#define FOLD_sum(TYPE, a, b) ((TYPE)((a) + (b)))
#define FOLD_prod(TYPE, a, b) ((TYPE)((a) * (b)))

#ifdef __cplusplus
#include <complex>
#define COMPLEX_DOUBLE std::complex<double>
#define COMPLEX_FLOAT std::complex<float>
#define COMPLEX_OF(TYPE, a, b) TYPE((TYPE::value_type)(int)(a), (TYPE::value_type)(int)(b))
#else
#define COMPLEX_DOUBLE double _Complex
#define COMPLEX_FLOAT float _Complex
#define COMPLEX_OF(TYPE, a, b) ((TYPE)((int)(a) + (int)(b) * _Complex_I))
#endif
#define OPERAND_csum(TYPE, pe, i) COMPLEX_OF(TYPE, value_of(pe, 31, i) % 50 - 25, value_of(pe, 32, i) % 50 - 25)
#define OPERAND_cprod(TYPE, pe, i) COMPLEX_OF(TYPE, value_of(pe, 33, i) % 5 - 2, value_of(pe, 34, i) % 5 - 2)
#define FOLD_csum(TYPE, a, b) ((a) + (b))
#define FOLD_cprod(TYPE, a, b) ((a) * (b))

#endif
