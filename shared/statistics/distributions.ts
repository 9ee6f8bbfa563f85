/** Numerator and denominator of a rational function, lowest power first. */
type Rational = readonly [readonly number[], readonly number[]];

function evaluate([numerator, denominator]: Rational, x: number): number {
  const polynomial = (coefficients: readonly number[]) => coefficients.reduceRight((sum, each) => sum * x + each, 0);
  return polynomial(numerator) / polynomial(denominator);
}

const central: Rational = [
  [
    3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946, 45921.95393154987, 67265.7709270087,
    33430.57558358813, 2509.0809287301227,
  ],
  [
    1, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597, 39307.89580009271,
    28729.085735721943, 5226.495278852854,
  ],
];
const tail: Rational = [
  [
    1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045, 1.2704582524523684,
    0.2417807251774506, 0.022723844989269184, 0.0007745450142783414,
  ],
  [
    1, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008, 0.015198666563616457,
    0.0005475938084995345, 1.0507500716444169e-9,
  ],
];
const farTail: Rational = [
  [
    6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487, 0.026532189526576124,
    0.0012426609473880784, 0.000027115555687434876, 2.0103343992922881e-7,
  ],
  [
    1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615, 0.0007868691311456133, 0.000018463183175100548,
    1.421511758316446e-7, 2.0442631033899397e-15,
  ],
];

/**
 * The quantile of the standard normal distribution, to about 16 digits.
 *
 * M. J. Wichura (1988), Algorithm AS 241: The percentage points of the normal distribution. Applied Statistics 37, 477-484.
 */
export function normalQuantile(probability: number): number {
  const fromCentre = probability - 0.5;
  if (Math.abs(fromCentre) <= 0.425) return fromCentre * evaluate(central, 0.180625 - fromCentre ** 2);
  const root = Math.sqrt(-Math.log(Math.min(probability, 1 - probability)));
  const distance = root <= 5 ? evaluate(tail, root - 1.6) : evaluate(farTail, root - 5);
  return Math.sign(fromCentre) * distance;
}

/** The number of standard errors on each side of an estimate, for a large sample. */
export function normalMargin(confidence: number): number {
  return normalQuantile(0.5 + confidence / 2);
}

/**
 * The number of standard errors on each side of a mean, from Student's t distribution; to about 6 digits.
 *
 * G. W. Hill (1970), Algorithm 396: Student's t-quantiles. Communications of the ACM 13, 619-620.
 */
export function studentMargin(confidence: number, freedom: number): number {
  const outside = 1 - confidence;
  if (freedom === 1) return 1 / Math.tan((outside * Math.PI) / 2);
  if (freedom === 2) return Math.sqrt(2 / (outside * (2 - outside)) - 2);
  const a = 1 / (freedom - 0.5);
  const b = 48 / a ** 2;
  let c = ((20_700 * (a / b) - 98) * a - 16) * a + 96.36;
  const d = ((94.5 / (b + c) - 3) / b + 1) * Math.sqrt((a * Math.PI) / 2) * freedom;
  let y = (d * outside) ** (2 / freedom);
  if (y > 0.05 + a) {
    const x = normalQuantile(outside / 2);
    if (freedom < 5) c += 0.3 * (freedom - 4.5) * (x + 0.6);
    c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c;
    const square = x ** 2;
    y = (((((0.4 * square + 6.3) * square + 36) * square + 94.5) / c - square - 3) / b + 1) * x;
    y = Math.expm1(a * y ** 2);
  } else {
    const rest = ((freedom + 6) / (freedom * y) - 0.089 * d - 0.822) * (freedom + 2) * 3;
    y = ((1 / rest + 0.5 / (freedom + 4)) * y - 1) * ((freedom + 1) / (freedom + 2)) + 1 / y;
  }
  return Math.sqrt(freedom * y);
}
