// Replaces functions and properties of the browser so that pages do not notice. Defines `apply`,
// `disguise`, `replace` and `replaceClass`.

// Libraries put functions of their own in the places of the browser's.
const apply = Reflect.apply, arrayFrom = Array.from.bind(Array);

// Our functions print as the native ones that they replace.
const nativeSources = new WeakMap();
const nativeToString = Function.prototype.toString;
function disguise(replacement, name) {
  nativeSources.set(replacement, `function ${name}() { [native code] }`);
  return replacement;
}
function replace(object, name, make) {
  const descriptor = object && Object.getOwnPropertyDescriptor(object, name);
  if (!descriptor || !descriptor.configurable) return;
  if (descriptor.get) {
    const made = Object.getOwnPropertyDescriptor(make(descriptor.get, descriptor.set), name);
    const set = made.set ? disguise(made.set, `set ${name}`) : descriptor.set;
    Object.defineProperty(object, name, { ...descriptor, get: disguise(made.get, `get ${name}`), set });
  } else {
    const replacement = make(descriptor.value)[name];
    Object.defineProperty(replacement, 'length', { value: descriptor.value.length, configurable: true });
    Object.defineProperty(object, name, { ...descriptor, value: disguise(replacement, typeof name === 'symbol' ? descriptor.value.name : name) });
  }
}
// Puts a class in the place of one of the browser's, whose `construct` makes its objects.
function replaceClass(name, construct) {
  const native = globalThis[name];
  if (!native) return;
  const made = disguise(new Proxy(native, { construct }), name);
  const property = { value: made, writable: true, configurable: true };
  if (native.prototype.constructor === native) {
    Object.defineProperty(native.prototype, 'constructor', property);
  }
  Object.defineProperty(globalThis, name, property);
}
replace(Function.prototype, 'toString', () => ({
  toString() { return nativeSources.get(this) ?? apply(nativeToString, this, []); },
}));
