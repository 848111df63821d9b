// Reports uncaught errors and unhandled rejections in the browser's console, behind a mark by which
// they are told from the page's own messages. The DevTools domain that has events for them,
// `Runtime`, would read properties of logged objects, which pages can see.

const nativeError = console.error;
const getterOf = (prototype, name) => Object.getOwnPropertyDescriptor(prototype, name)?.get;
const [errorText, errorFile, errorLine] = ['message', 'filename', 'lineno'].map((name) => getterOf(ErrorEvent.prototype, name));
const rejectionReason = getterOf(PromiseRejectionEvent.prototype, 'reason');
const exceptionText = getterOf(DOMException.prototype, 'message');
const isError = Error.isError ?? (() => false);
const report = (place, text) => nativeError(`${ERROR_MARK}${place} ${text}`);
// Nothing of the page's is called: no getter and no `toString`.
function reasonText(reason) {
  if (typeof reason === 'function') return 'a function';
  if (typeof reason !== 'object' || reason === null) return String(reason);
  if (!isError(reason)) return 'an object';
  const own = Object.getOwnPropertyDescriptor(reason, 'message')?.value;
  if (typeof own === 'string') return own;
  try { return apply(exceptionText, reason, []); } catch { return 'an error'; }
}
apply(nativeAddEventListener, window, ['error', (event) => {
  if (!event.isTrusted) return;
  const read = (getter) => apply(getter, event, []);
  report(`${read(errorFile)}:${read(errorLine)}`, read(errorText));
}]);
apply(nativeAddEventListener, window, ['unhandledrejection', (event) => {
  if (event.isTrusted) report('', `Uncaught (in promise) ${reasonText(apply(rejectionReason, event, []))}`);
}]);
