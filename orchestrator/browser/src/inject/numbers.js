// Large numbers, for keys and signatures. Defines `numberOf`, `bytesOf`, `power`, `inverse`,
// `encoded`, `decoded` and `copied`.

const hexOf = (bytes) => arrayFrom(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const numberOf = (bytes) => BigInt(`0x0${hexOf(bytes)}`);
function bytesOf(number, length) {
  const hex = number.toString(16).padStart(2 * length, '0');
  const at = (i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return new Uint8Array(arrayFrom({ length }, (_, i) => at(i)));
}
const lengthOf = (number) => Math.ceil(number.toString(16).length / 2);
function power(base, exponent, modulus) {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = result * result % modulus;
    if (bit === '1') result = result * base % modulus;
  }
  return result;
}
const positive = (number, modulus) => (number % modulus + modulus) % modulus;
function inverse(number, modulus) {
  let [high, low, x, y] = [modulus, positive(number, modulus), 0n, 1n];
  while (low) [high, low, x, y] = [low, high % low, y, x - high / low * y];
  return positive(x, modulus);
}
// Numbers as a JSON Web Key has them. A worker has no `btoa` yet.
const SIX_BITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
function encoded(number, length = lengthOf(number)) {
  const letters = Math.ceil(8 * length / 6), shifted = number << BigInt(6 * letters - 8 * length);
  const at = (i) => SIX_BITS[shifted >> BigInt(6 * (letters - 1 - i)) & 63n];
  return arrayFrom({ length: letters }, (_, i) => at(i)).join('');
}
function decoded(text) {
  const add = (sum, letter) => sum << 6n | BigInt(SIX_BITS.indexOf(letter));
  return arrayFrom(text).reduce(add, 0n) >> BigInt(6 * text.length % 8);
}
// The bytes of a buffer as they are now.
function copied(buffer) {
  if (ArrayBuffer.isView(buffer)) {
    return new Uint8Array(new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength));
  }
  return buffer === undefined ? buffer : new Uint8Array(new Uint8Array(buffer));
}
