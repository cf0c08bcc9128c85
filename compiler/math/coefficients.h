/* coefficients.h - constants of the specified functions; printed by generate/coefficients.py, which explains them. */
#ifndef TESSERA_MATH_COEFFICIENTS_H
#define TESSERA_MATH_COEFFICIENTS_H

/* Added and taken away, rounds to an integer, which stands in the low bits of the sum. */
#define MATH_ROUND 0x1.8p23f
/* Bits of 2/3: log's mantissas run from here to twice here. */
#define MATH_LOG_SPLIT 0x3f2aaaab
#define MATH_LOG2_E 0x1.715476p0f
#define MATH_LN2 0x1.62e43p-1f
#define MATH_LN2_HIGH 0x1.62e4p-1f
#define MATH_LN2_LOW 0x1.7f7d1cp-20f
#define MATH_TANH_SPLIT 0x1.0cp0f
#define MATH_TANH_CENTRE 0x1.4p-1f
#define MATH_ERF_SPLIT 0x1.3p0f
#define MATH_ERF_CENTRE 0x1.8p-1f

/* e^r = 1 + r + r^2 * (EXP_0 + EXP_1 r + ...), |r| <= log(2)/2; error of the whole 2^-28.3 */
#define MATH_EXP_0 0x1.fffffcp-2f
#define MATH_EXP_1 0x1.555492p-3f
#define MATH_EXP_2 0x1.5558aep-5f
#define MATH_EXP_3 0x1.123988p-7f
#define MATH_EXP_4 0x1.6a4f8ep-10f

/* log(1 + f) = f - f^2/2 + f^3 * (LOG_0 + LOG_1 f + ...), -1/3 <= f <= 1/3; error of the whole 2^-27.7 */
#define MATH_LOG_0 0x1.555506p-2f
#define MATH_LOG_1 -0x1.fffefcp-3f
#define MATH_LOG_2 0x1.99d044p-3f
#define MATH_LOG_3 -0x1.559c44p-3f
#define MATH_LOG_4 0x1.1ed65ep-3f
#define MATH_LOG_5 -0x1.f332fcp-4f
#define MATH_LOG_6 0x1.1e67b8p-3f
#define MATH_LOG_7 -0x1.07c886p-3f

/* tanh(a) = a + a (TANH_0 + TANH_1 u + ...), u = a^2 - TANH_CENTRE; error of the whole 2^-26.6 */
#define MATH_TANH_0 -0x1.5587fap-3f
#define MATH_TANH_1 -0x1.b5b8a6p-3f
#define MATH_TANH_2 0x1.15be94p-4f
#define MATH_TANH_3 -0x1.6679a6p-6f
#define MATH_TANH_4 0x1.cf19fep-8f
#define MATH_TANH_5 -0x1.28c6e4p-9f
#define MATH_TANH_6 0x1.96e8e8p-11f
#define MATH_TANH_7 -0x1.41257ep-12f

/* erf(a) = a + a (ERF_0 + ERF_1 u + ...), u = a^2 - ERF_CENTRE; error of the whole 2^-29.8 */
#define MATH_ERF_0 -0x1.9a0bbp-4f
#define MATH_ERF_1 -0x1.f4eac4p-3f
#define MATH_ERF_2 0x1.12198ep-4f
#define MATH_ERF_3 -0x1.efd272p-7f
#define MATH_ERF_4 0x1.752b18p-9f
#define MATH_ERF_5 -0x1.dcfe9ep-12f
#define MATH_ERF_6 0x1.0bccfap-14f
#define MATH_ERF_7 -0x1.1cceccp-17f

/* erf(a) = 1 - e^-g, g = a + a (ERFC_0 + ERFC_1 a + ...), ERF_SPLIT <= a <= 4; error of the whole 2^-29.5 */
#define MATH_ERFC_0 0x1.06c3acp-3f
#define MATH_ERFC_1 0x1.45d2a6p-1f
#define MATH_ERFC_2 0x1.abe536p-4f
#define MATH_ERFC_3 -0x1.6f447cp-6f
#define MATH_ERFC_4 0x1.934564p-9f
#define MATH_ERFC_5 -0x1.9fa1c6p-13f

#endif
