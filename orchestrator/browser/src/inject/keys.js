// Keys that a page generates come from the world's randomness. The browser generates one first, for
// its checks and errors; then a seeded key takes its place. RSA keys stay the browser's: their
// primes take too long to find. Expects `randomWord`, `blockTime` and `inRequestOrder`.

const CURVES = {
  'P-256': [32, [0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7]], 'P-384': [48, [0x2b, 0x81, 4, 0, 0x22]], 'P-521': [66, [0x2b, 0x81, 4, 0, 0x23]],
};
const EDWARDS = { Ed25519: 0x70, X25519: 0x6e };
const LONGEST = 128;

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

const deterministicKey = async (subtle, generated, secret) => {
  if (generated.type === 'secret') {
    const length = Math.ceil(generated.algorithm.length / 8);
    const raw = Uint8Array.from({ length }, (_, i) => secret[i % LONGEST]);
    return apply(nativeSubtle.importKey, subtle, ['raw', raw, generated.algorithm, generated.extractable, generated.usages]);
  }
  const { algorithm, usages, extractable } = generated.privateKey ?? {};
  if (!(algorithm?.name in EDWARDS) && !(algorithm?.namedCurve in CURVES)) return generated;
  const encoded = new Uint8Array(privateKey(algorithm, secret));
  const open = await apply(nativeSubtle.importKey, subtle, ['pkcs8', encoded, algorithm, true, usages]);
  const { kty, crv, x, y } = await apply(nativeSubtle.exportKey, subtle, ['jwk', open]);
  return {
    publicKey: await apply(nativeSubtle.importKey, subtle, ['jwk', { kty, crv, x, y, ext: true }, algorithm, true, generated.publicKey.usages]),
    privateKey: extractable ? open : await apply(nativeSubtle.importKey, subtle, ['pkcs8', encoded, algorithm, false, usages]),
  };
};
replaceWhenDefined('SubtleCrypto', 'generateKey', (native) => ({
  generateKey(...args) {
    const secret = Array.from({ length: LONGEST }, () => randomWord() >>> 24);
    const pending = apply(native, this, args);
    if (!(pending instanceof NativePromise)) return pending;
    const key = apply(nativeThen, pending, [(generated) => deterministicKey(this, generated, secret)]);
    return blockTime(inRequestOrder(key));
  },
}));
replaceLateTypes();
