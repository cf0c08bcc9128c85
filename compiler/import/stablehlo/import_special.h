/* import_special.h - functions of f64 by series. */
#ifndef TESSERA_IMPORT_STABLEHLO_IMPORT_SPECIAL_H
#define TESSERA_IMPORT_STABLEHLO_IMPORT_SPECIAL_H

#include "import/stablehlo/import_real.h"

ir_value special_erfc(importer *im, ir_value x);
ir_value special_erf_inv(importer *im, ir_value x);
ir_value special_log_gamma(importer *im, ir_value x);
ir_value special_digamma(importer *im, ir_value x);
ir_value special_bessel_i1e(importer *im, ir_value x);

#endif
