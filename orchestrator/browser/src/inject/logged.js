// Marks each timer and each line of the console in the browser's trace, while the order of events
// is kept. Only then do lines in the console not tell their place. Nothing of the page's is called.

const nativeTimeStamp = console.timeStamp, nativeString = String, LONGEST_LINE = 300;
const noteInOrder = (line) => nativeTimeStamp(`${ORDER_MARK}${nativeNow()} ${line}`);
onTimer = (delay) => noteInOrder(`timer ${Math.ceil(delay)}`);
for (const level of ['debug', 'log', 'info', 'warn', 'error']) {
  replace(console, level, (native) => ({
    [level](...values) {
      let line = `console ${level}`;
      for (let i = 0; i < values.length && line.length < LONGEST_LINE; i++) {
        const kind = typeof values[i];
        if (kind !== 'object' && kind !== 'function') line += ` ${nativeString(values[i])}`;
      }
      noteInOrder(line);
      return apply(native, this, values);
    },
  }));
}
