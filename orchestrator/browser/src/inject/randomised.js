// What is signed or encrypted with chance: ECDSA, RSA-PSS and RSA-OAEP. The browser does it first,
// for its checks and errors; then the same is done with the world's randomness. A key that came
// from elsewhere and cannot be read stays the browser's. Expects `numbers.js`, `nativeSubtle` and
// `randomBytes`. Defines `keepReadable` and `withSeed`.

const READ_FOR = ['ECDSA', 'RSA-PSS', 'RSA-OAEP'];
const HASH_LENGTHS = { 'SHA-1': 20, 'SHA-256': 32, 'SHA-384': 48, 'SHA-512': 64 };
// SEC 2 and FIPS 186-5: the field, the order, and the base point.
const EC_NUMBERS = {
  'P-256': [
    0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn,
    0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
    0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
    0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
  ],
  'P-384': [
    0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffffn,
    0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
    0xaa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7n,
    0x3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5fn,
  ],
  'P-521': [
    0x01ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffn,
    0x01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
    0x00c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66n,
    0x011839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650n,
  ],
};

const readable = new WeakMap();
// Keeps what a key is, where a page may not read it.
function keepReadable(key, jwk) {
  readable.set(key, jwk);
  return key;
}
const materialOf = async (subtle, key) => readable.get(key)
  ?? (key.extractable ? apply(nativeSubtle.exportKey, subtle, ['jwk', key]) : undefined);
const digestOf = async (subtle, hash, bytes) =>
  new Uint8Array(await apply(nativeSubtle.digest, subtle, [hash, bytes]));

// The `x` of a multiple of the base point, in Jacobian coordinates. All these curves have a = -3.
function multipleOfBase(factor, [field, , x0, y0]) {
  const mod = (number) => positive(number, field);
  let [x, y, z] = [0n, 1n, 0n];
  for (const bit of factor.toString(2)) {
    const [yy, zz] = [y * y % field, z * z % field];
    const [s, m] = [4n * x * yy % field, 3n * mod((x - zz) * (x + zz)) % field];
    const doubled = mod(m * m - 2n * s);
    [x, y, z] = [doubled, mod(m * (s - doubled) - 8n * yy * yy), 2n * y * z % field];
    if (bit !== '1') continue;
    if (!z) {
      [x, y, z] = [x0, y0, 1n];
      continue;
    }
    const square = z * z % field;
    const [h, r] = [mod(x0 * square - x), mod(y0 * square * z - y)];
    const [hh, hhh] = [h * h % field, h * h * h % field];
    const next = mod(r * r - hhh - 2n * x * hh);
    [x, y, z] = [next, mod(r * (x * hh - next) - y * hhh), z * h % field];
  }
  const back = inverse(z, field);
  return x * back % field * back % field;
}
async function ecdsa(subtle, { namedCurve }, { d }, hash, data, random) {
  const curve = EC_NUMBERS[namedCurve], order = curve[1], length = lengthOf(order);
  const digest = await digestOf(subtle, hash, data);
  const surplus = 8 * digest.length - order.toString(2).length;
  const hashed = numberOf(digest) >> BigInt(Math.max(0, surplus));
  for (;;) {
    const nonce = numberOf(random(length + 8)) % (order - 1n) + 1n;
    const r = multipleOfBase(nonce, curve) % order;
    const s = inverse(nonce, order) * (hashed + r * decoded(d)) % order;
    if (r && s) return Uint8Array.of(...bytesOf(r, length), ...bytesOf(s, length)).buffer;
  }
}

// MGF1 of RFC 8017.
async function mask(subtle, hash, seed, length) {
  const blocks = [];
  for (let counter = 0; blocks.length < length; counter++) {
    const block = Uint8Array.of(...seed, counter >>> 24, counter >>> 16, counter >>> 8, counter);
    blocks.push(...await digestOf(subtle, hash, block));
  }
  return blocks.slice(0, length);
}
const masked = (bytes, by) => bytes.map((byte, i) => byte ^ by[i]);
// EMSA-PSS of RFC 8017.
async function pss(subtle, { modulusLength, hash }, { n, d }, saltLength, data, random) {
  const bits = modulusLength - 1, length = Math.ceil(bits / 8);
  const hashLength = HASH_LENGTHS[hash.name];
  const salt = random(saltLength), digest = await digestOf(subtle, hash.name, data);
  const salted = Uint8Array.of(...new Uint8Array(8), ...digest, ...salt);
  const sealed = await digestOf(subtle, hash.name, salted);
  const block = [...new Uint8Array(length - saltLength - hashLength - 2), 1, ...salt];
  const seen = masked(block, await mask(subtle, hash.name, sealed, block.length));
  seen[0] &= 255 >> 8 * length - bits;
  const signed = power(numberOf([...seen, ...sealed, 0xbc]), decoded(d), decoded(n));
  return bytesOf(signed, Math.ceil(modulusLength / 8)).buffer;
}
// EME-OAEP of RFC 8017.
async function oaep(subtle, { modulusLength, hash }, { n, e }, label, data, random) {
  const length = Math.ceil(modulusLength / 8), hashLength = HASH_LENGTHS[hash.name];
  const labelled = await digestOf(subtle, hash.name, label ?? new Uint8Array());
  const padding = new Uint8Array(length - data.length - 2 * hashLength - 2);
  const seed = random(hashLength), block = [...labelled, ...padding, 1, ...data];
  const hidden = masked(block, await mask(subtle, hash.name, seed, block.length));
  const seen = masked(seed, await mask(subtle, hash.name, hidden, hashLength));
  return bytesOf(power(numberOf([0, ...seen, ...hidden]), decoded(e), decoded(n)), length).buffer;
}

// By the names of the functions: what is read of the arguments at the call, and what takes the
// place of the result.
const RANDOMISED = {
  sign: {
    of([algorithm, key, data]) {
      if (!['ECDSA', 'RSA-PSS'].includes(key?.algorithm?.name)) return null;
      const { hash, saltLength } = algorithm ?? {};
      return { key, data: copied(data), hash: hash?.name ?? hash, saltLength };
    },
    async make(subtle, { key, data, hash, saltLength }, random) {
      const jwk = await materialOf(subtle, key);
      if (!jwk) return undefined;
      return key.algorithm.name === 'ECDSA' ? ecdsa(subtle, key.algorithm, jwk, hash, data, random)
        : pss(subtle, key.algorithm, jwk, saltLength, data, random);
    },
  },
  encrypt: {
    of: ([algorithm, key, data]) => key?.algorithm?.name === 'RSA-OAEP'
      ? { key, data: copied(data), label: copied(algorithm?.label) } : null,
    async make(subtle, { key, data, label }, random) {
      const jwk = await materialOf(subtle, key);
      return jwk && oaep(subtle, key.algorithm, jwk, label, data, random);
    },
  },
  wrapKey: {
    of: ([format, wrapped, key, algorithm]) => key?.algorithm?.name === 'RSA-OAEP'
      ? { format, wrapped, key, label: copied(algorithm?.label) } : null,
    async make(subtle, { format, wrapped, key, label }, random) {
      const jwk = await materialOf(subtle, key);
      const plain = await apply(nativeSubtle.exportKey, subtle, [format, wrapped]);
      const data = format === 'jwk' ? new TextEncoder().encode(JSON.stringify(plain))
        : new Uint8Array(plain);
      return jwk && oaep(subtle, key.algorithm, jwk, label, data, random);
    },
  },
  importKey: {
    of([format, data, algorithm, extractable, usages]) {
      const name = String(algorithm?.name ?? algorithm).toUpperCase();
      if (extractable || !READ_FOR.includes(name)) return null;
      const own = format === 'jwk' ? { ...data, ext: true } : copied(data);
      return [format, own, algorithm, true, usages];
    },
    async make(subtle, args, random, key) {
      const open = await apply(nativeSubtle.importKey, subtle, args);
      return keepReadable(key, await apply(nativeSubtle.exportKey, subtle, ['jwk', open]));
    },
  },
};
// Does it with chance of the world, if this is done with chance. The result is the browser's where
// the key cannot be read, or what was given is of another kind.
function withSeed(name, subtle, args, call) {
  const { of, make } = RANDOMISED[name] ?? {};
  let input = null;
  try { input = of?.(args); } catch { /* The browser refuses it, too. */ }
  const random = input && randomBytes();
  const done = call();
  if (!input || !(done instanceof NativePromise)) return done;
  return apply(nativeThen, done, [async (result) => {
    try { return await make(subtle, input, random, result) ?? result; } catch { return result; }
  }]);
}
