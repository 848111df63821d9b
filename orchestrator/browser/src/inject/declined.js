// What a browser would ask its user in a prompt that nobody sees. Pages of a frozen world get the
// result of a declined prompt. Chromium would wait for the user; its headless shell answers by
// itself, and not always in the same way. The headless shell would also grant the pointer lock, and
// then move the mouse back after each movement, which is a movement again. Such a page becomes
// slower and slower until none of its frames is drawn.

function decline(prototype, name, error, notify) {
  replace(prototype, name, () => ({
    [name]() {
      notify?.(this);
      return NativePromise.reject(new DOMException('The request was declined.', error));
    },
  }));
}
decline(Element.prototype, 'requestPointerLock', 'NotAllowedError', (element) => {
  const page = element.ownerDocument;
  nativeSetTimeout(() => page.dispatchEvent(new Event('pointerlockerror', { bubbles: true })), 1);
});
decline(globalThis.MediaDevices?.prototype, 'getDisplayMedia', 'NotAllowedError');
// The search for a camera takes the machine's time, not the page's.
decline(globalThis.MediaDevices?.prototype, 'getUserMedia', 'NotFoundError');
decline(globalThis.DocumentPictureInPicture?.prototype, 'requestWindow', 'NotAllowedError');
decline(globalThis.HTMLVideoElement?.prototype, 'requestPictureInPicture', 'NotAllowedError');
decline(globalThis.EyeDropper?.prototype, 'open', 'AbortError');
decline(globalThis.PaymentRequest?.prototype, 'show', 'AbortError');
decline(Navigator.prototype, 'share', 'AbortError');
for (const name of ['create', 'get']) decline(globalThis.CredentialsContainer?.prototype, name, 'NotAllowedError');
// The headless shell would end.
for (const [name, answer] of [['available', 'unavailable'], ['install', false]]) {
  replace(globalThis.SpeechRecognition, name, () => ({ async [name]() { return answer; } }));
}
for (const name of ['showOpenFilePicker', 'showSaveFilePicker', 'showDirectoryPicker']) decline(window, name, 'AbortError');
for (const type of ['USB', 'HID', 'Bluetooth']) decline(globalThis[type]?.prototype, 'requestDevice', 'NotFoundError');
decline(globalThis.Serial?.prototype, 'requestPort', 'NotFoundError');
if (globalThis.Notification) {
  replace(Notification, 'permission', () => ({ get permission() { return 'denied'; } }));
  replace(Notification, 'requestPermission', () => ({
    requestPermission(callback) {
      if (typeof callback === 'function') nativeSetTimeout(() => callback('denied'), 0);
      return NativePromise.resolve('denied');
    },
  }));
}
