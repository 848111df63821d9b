// The part for pages and workers of all worlds: date and seeded randomness. Expects `seed` and
// `place` (strings), `now` (function: milliseconds) and `origin` (distinguishes this realm from
// others in the same place).

const NativeDate = Date;
const DateProxy = new Proxy(NativeDate, {
  construct(target, args, self) { return Reflect.construct(target, args.length ? args : [now()], self); },
  apply() { return new NativeDate(now()).toString(); },
});
disguise(DateProxy, 'Date');
Object.defineProperty(NativeDate.prototype, 'constructor', { value: DateProxy, writable: true, configurable: true });
Object.defineProperty(globalThis, 'Date', { value: DateProxy, writable: true, configurable: true });
replace(NativeDate, 'now', () => ({ now() { return now(); } }));

// Date formats use the present time if they get no date.
const formats = new WeakMap();
replace(Intl.DateTimeFormat.prototype, 'format', (native) => ({
  get format() {
    const format = apply(native, this, []);
    if (!formats.has(format)) formats.set(format, disguise((date) => format(date === undefined ? now() : date), ''));
    return formats.get(format);
  },
}));
replace(Intl.DateTimeFormat.prototype, 'formatToParts', (native) => ({
  formatToParts(date) { return apply(native, this, [date === undefined ? now() : date]); },
}));

const temporalNow = globalThis.Temporal?.Now;
if (temporalNow) {
  const instant = () => Temporal.Instant.fromEpochMilliseconds(now());
  const zonedNow = (zone) => instant().toZonedDateTimeISO(zone ?? temporalNow.timeZoneId());
  replace(temporalNow, 'instant', () => ({ instant() { return instant(); } }));
  replace(temporalNow, 'zonedDateTimeISO', () => ({ zonedDateTimeISO(zone) { return zonedNow(zone); } }));
  replace(temporalNow, 'plainDateTimeISO', () => ({ plainDateTimeISO(zone) { return zonedNow(zone).toPlainDateTime(); } }));
  replace(temporalNow, 'plainDateISO', () => ({ plainDateISO(zone) { return zonedNow(zone).toPlainDate(); } }));
  replace(temporalNow, 'plainTimeISO', () => ({ plainTimeISO(zone) { return zonedNow(zone).toPlainTime(); } }));
}

// sfc32 over a hash of the seed, of the realm's place, and of its start.
function hash(text) {
  const h = [1779033703, 3144134277, 1013904242, 2773480762];
  const m = [597399067, 2869860233, 951274213, 2716044179];
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    for (let k = 0; k < 4; k++) h[k] = h[(k + 1) & 3] ^ Math.imul(h[k] ^ c, m[k]);
  }
  return h;
}
function generator([a, b, c, d]) {
  const word = () => {
    const t = (a + b | 0) + d | 0;
    d = d + 1 | 0;
    a = b ^ b >>> 9;
    b = c + (c << 3) | 0;
    c = (c << 21 | c >>> 11) + t | 0;
    return t >>> 0;
  };
  for (let i = 0; i < 16; i++) word();
  return word;
}
const randomWord = generator(hash(`${seed}|${place}|${origin}`));
// Gives as many random bytes as wanted, and takes four words for all of them.
const bytesFrom = (word) => (length) => arrayFrom({ length }, () => word() >>> 24);
const randomBytes = () => bytesFrom(generator(arrayFrom({ length: 4 }, randomWord)));

replace(Math, 'random', () => ({
  random() { return ((randomWord() >>> 5) * 67108864 + (randomWord() >>> 6)) / 9007199254740992; },
}));
if (globalThis.Crypto) {
  const viewOf = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  replace(Crypto.prototype, 'getRandomValues', (native) => ({
    getRandomValues(array) {
      apply(native, this, [array]); // for its checks and its errors
      const bytes = viewOf(array);
      for (let i = 0; i < bytes.length; i++) bytes[i] = randomWord() >>> 24;
      return array;
    },
  }));
  replace(Crypto.prototype, 'randomUUID', () => ({
    randomUUID() {
      const hex = arrayFrom({ length: 16 }, (_, i) => {
        let byte = randomWord() >>> 24;
        if (i === 6) byte = byte & 0x0f | 0x40;
        if (i === 8) byte = byte & 0x3f | 0x80;
        return byte.toString(16).padStart(2, '0');
      }).join('');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    },
  }));
}

// What differs between machines.
const navigatorType = globalThis.Navigator ?? globalThis.WorkerNavigator;
replace(navigatorType?.prototype, 'hardwareConcurrency', () => ({ get hardwareConcurrency() { return 4; } }));
replace(navigatorType?.prototype, 'cpuPerformance', () => ({ get cpuPerformance() { return 2; } }));
replace(navigatorType?.prototype, 'deviceMemory', () => ({ get deviceMemory() { return 8; } }));
const connection = globalThis.NetworkInformation?.prototype;
replace(connection, 'effectiveType', () => ({ get effectiveType() { return '4g'; } }));
replace(connection, 'rtt', () => ({ get rtt() { return 50; } }));
replace(connection, 'downlink', () => ({ get downlink() { return 10; } }));
replace(connection, 'saveData', () => ({ get saveData() { return false; } }));
replace(globalThis.StorageManager?.prototype, 'estimate', (native) => ({
  async estimate() { return { ...await apply(native, this, []), quota: 10737418240 }; },
}));
