// Keys that a page generates come from the world's randomness. The browser generates one first, for
// its checks and errors; then a seeded key takes its place. Expects `numbers.js`, `randomised.js`,
// `randomWord`, `blockTime` and `inRequestOrder`.

const CURVES = {
  'P-256': [32, [0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7]], 'P-384': [48, [0x2b, 0x81, 4, 0, 0x22]], 'P-521': [66, [0x2b, 0x81, 4, 0, 0x23]],
};
const EDWARDS = { Ed25519: 0x70, X25519: 0x6e };
const LONGEST = 128;
// The primes of longer keys take minutes to find: these keys stay the browser's.
const LONGEST_RSA = 4096;

// DER, as in RFC 5958. No length is above 255.
function der(tag, ...parts) {
  const content = parts.flat();
  return [tag, ...(content.length > 127 ? [0x81] : []), content.length, ...content];
}
function privateKey(algorithm, secret) {
  if (algorithm.name in EDWARDS) {
    return der(0x30, der(2, 0), der(0x30, der(6, 0x2b, 0x65, EDWARDS[algorithm.name])), der(4, der(4, secret.slice(0, 32))));
  }
  const [length, curve] = CURVES[algorithm.namedCurve];
  const number = secret.slice(0, length);
  // Below the order of the curve, and not zero.
  number[0] = length === 66 ? 0 : number[0] & 0x7f;
  number[length - 1] |= 1;
  return der(0x30, der(2, 0), der(0x30, der(6, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1), der(6, curve)), der(4, der(0x30, der(2, 1), der(4, number))));
}

// The primes below 2,000: what none of them divides is a prime seven times as often.
let smallPrimes = null;
const SIEVED = 2000, STEPS = 20000;
function sieve() {
  const isNone = [];
  smallPrimes = [];
  for (let n = 3; n < SIEVED; n += 2) {
    if (isNone[n]) continue;
    smallPrimes.push(n);
    for (let multiple = n * n; multiple < SIEVED; multiple += 2 * n) isNone[multiple] = true;
  }
}
function primeOf(bits, exponent, random) {
  if (!smallPrimes) sieve();
  for (;;) {
    const drawn = numberOf(random(Math.ceil(bits / 8))) & (1n << BigInt(bits)) - 1n;
    const start = drawn | 3n << BigInt(bits - 2) | 1n;
    const rests = smallPrimes.map((prime) => Number(start % BigInt(prime)));
    for (let step = 0; step < STEPS; step += 2) {
      if (rests.some((rest, i) => (rest + step) % smallPrimes[i] === 0)) continue;
      const number = start + BigInt(step), less = number - 1n;
      const fits = less * inverse(less, exponent) % exponent === 1n % exponent;
      if (fits && [2n, 3n].every((base) => power(base, less, number) === 1n)) return number;
    }
  }
}
function rsaKey({ modulusLength, publicExponent }, random) {
  const e = numberOf(publicExponent), half = Math.ceil(modulusLength / 2);
  const p = primeOf(half, e, random);
  let q = p;
  while (q === p) q = primeOf(modulusLength - half, e, random);
  const d = inverse(e, (p - 1n) * (q - 1n));
  const numbers = { n: p * q, e, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q, p) };
  const texts = Object.entries(numbers).map(([name, number]) => [name, encoded(number)]);
  return { kty: 'RSA', ...Object.fromEntries(texts) };
}

// The pair of keys of one private key.
async function pairOf(subtle, { publicKey, privateKey }, jwk, isExtractable) {
  const { algorithm, usages } = privateKey, { kty, crv, x, y, n, e } = jwk;
  const open = { kty, crv, x, y, n, e, ext: true };
  const imported = (jwk, ...how) =>
    apply(nativeSubtle.importKey, subtle, ['jwk', jwk, algorithm, ...how]);
  return {
    publicKey: await imported(open, true, publicKey.usages),
    privateKey: keepReadable(await imported(jwk, isExtractable, usages), jwk),
  };
}

const deterministicKey = async (subtle, generated, secret) => {
  if (generated.type === 'secret') {
    const length = Math.ceil(generated.algorithm.length / 8);
    const raw = new Uint8Array(arrayFrom({ length }, (_, i) => secret[i % LONGEST]));
    return apply(nativeSubtle.importKey, subtle, ['raw', raw, generated.algorithm, generated.extractable, generated.usages]);
  }
  const { algorithm, usages, extractable } = generated.privateKey ?? {};
  if (algorithm?.modulusLength > LONGEST_RSA) return generated;
  if (algorithm?.modulusLength) {
    const jwk = rsaKey(algorithm, bytesFrom(generator(secret)));
    return pairOf(subtle, generated, jwk, extractable);
  }
  if (!(algorithm?.name in EDWARDS) && !(algorithm?.namedCurve in CURVES)) return generated;
  const args = ['pkcs8', new Uint8Array(privateKey(algorithm, secret)), algorithm, true, usages];
  const open = await apply(nativeSubtle.importKey, subtle, args);
  const { key_ops, ext, ...jwk } = await apply(nativeSubtle.exportKey, subtle, ['jwk', open]);
  return pairOf(subtle, generated, jwk, extractable);
};
replaceWhenDefined('SubtleCrypto', 'generateKey', (native) => ({
  generateKey(...args) {
    const secret = arrayFrom({ length: LONGEST }, () => randomWord() >>> 24);
    const pending = apply(native, this, args);
    if (!(pending instanceof NativePromise)) return pending;
    const key = apply(nativeThen, pending, [(generated) => deterministicKey(this, generated, secret)]);
    return blockTime(inRequestOrder(key), 'work');
  },
}));
replaceLateTypes();
