// Marks each line of the console in the browser's trace, while the order of events is kept. Only
// then do lines in the console not tell their place.

const nativeTimeStamp = console.timeStamp;
for (const level of ['debug', 'log', 'info', 'warn', 'error']) {
  replace(console, level, (native) => ({
    [level](...values) {
      const words = values.filter((value) => typeof value !== 'object' && typeof value !== 'function');
      nativeTimeStamp(`${ORDER_MARK}${nativeNow()} console ${level} ${words.map(String).join(' ')}`);
      return apply(native, this, values);
    },
  }));
}
