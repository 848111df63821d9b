// Which of the functions `NAMES` are ours: between the caller and the native function, which
// refuses to work on something that it does not belong to, stands one of our own.
(() => {
  const seen = globalThis.seen = {};
  const find = (name) => {
    const [, isStatic, type, method] = /^(static )?(\w+)\.(\w+)$/.exec(name) ?? [];
    if (type === 'global') return globalThis[method];
    return isStatic ? globalThis[type]?.[method] : globalThis[type]?.prototype?.[method];
  };
  const call = (method) => Reflect.apply(method, {}, []);
  // What is refused later, by another process, has no calls behind it.
  const note = (name) => (error) => {
    const calls = error.stack.split('\n').length - 1;
    if (calls) seen[name] = calls;
  };
  const judge = (name, method) => {
    try { call(method).then(() => {}, note(name)); } catch {}
  };
  judge('native', CSSStyleSheet.prototype.replace);
  for (const name of NAMES) {
    const method = find(name);
    if (method) judge(name, method);
  }
})()
