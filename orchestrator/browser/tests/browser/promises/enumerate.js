// The functions and properties of this scope's interfaces that give promises. What is called on
// something that it does not belong to throws, and if it gives promises, it gives a rejected one.
(() => {
  const found = [];
  const gives = (get) => {
    try {
      const value = get();
      if (!(value instanceof Promise)) return false;
      value.catch(() => {});
      return true;
    } catch { return false; }
  };
  const isType = (name) => /^[A-Z]/.test(name);
  const look = (label, object, leaveOut = []) => {
    for (const name of Object.getOwnPropertyNames(object)) {
      if (name === 'constructor' || leaveOut.includes(name)) continue;
      const { value, get } = Object.getOwnPropertyDescriptor(object, name);
      if (typeof value === 'function' && !(isType(name) && value.prototype)) {
        if (gives(() => Reflect.apply(value, {}, []))) found.push(`${label}.${name}`);
      }
      if (get && gives(() => Reflect.apply(get, {}, []))) found.push(`get ${label}.${name}`);
    }
  };
  for (const name of Object.getOwnPropertyNames(globalThis).filter(isType)) {
    const { value } = Object.getOwnPropertyDescriptor(globalThis, name);
    if (typeof value !== 'function' && (typeof value !== 'object' || !value)) continue;
    if (value.prototype) look(name, value.prototype);
    look(`static ${name}`, value);
  }
  // These do something without any object.
  const acting = ['alert', 'close', 'confirm', 'find', 'importScripts', 'open', 'print', 'prompt', 'stop'];
  look('global', globalThis, acting);
  return found;
})()
