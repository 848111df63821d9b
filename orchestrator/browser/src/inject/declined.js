// What a browser would ask its user for, in a window of its own that nobody sees: pages of a frozen
// world are told what they are told where a user declines. Chromium would wait for the user, its
// headless shell answers by itself, and not always in the same words. The headless shell would
// grant the pointer lock, and then put the mouse back after each of its movements, which is a
// movement again: the page becomes slower and slower until no frame of it is drawn.

function decline(prototype, name, error, notify) {
  replace(prototype, name, () => ({
    [name]() {
      notify?.(this);
      return Promise.reject(new DOMException('The request was declined.', error));
    },
  }));
}
decline(Element.prototype, 'requestPointerLock', 'NotAllowedError', (element) => {
  const page = element.ownerDocument;
  nativeSetTimeout(() => page.dispatchEvent(new Event('pointerlockerror', { bubbles: true })), 1);
});
decline(globalThis.MediaDevices?.prototype, 'getDisplayMedia', 'NotAllowedError');
// Looking for a camera takes the machine's time, not the page's.
decline(globalThis.MediaDevices?.prototype, 'getUserMedia', 'NotFoundError');
decline(globalThis.DocumentPictureInPicture?.prototype, 'requestWindow', 'NotAllowedError');
decline(globalThis.HTMLVideoElement?.prototype, 'requestPictureInPicture', 'NotAllowedError');
decline(globalThis.EyeDropper?.prototype, 'open', 'AbortError');
decline(globalThis.PaymentRequest?.prototype, 'show', 'AbortError');
decline(Navigator.prototype, 'share', 'AbortError');
for (const name of ['create', 'get']) decline(globalThis.CredentialsContainer?.prototype, name, 'NotAllowedError');
for (const name of ['showOpenFilePicker', 'showSaveFilePicker', 'showDirectoryPicker']) decline(window, name, 'AbortError');
for (const type of ['USB', 'HID', 'Bluetooth']) decline(globalThis[type]?.prototype, 'requestDevice', 'NotFoundError');
decline(globalThis.Serial?.prototype, 'requestPort', 'NotFoundError');
if (globalThis.Notification) {
  replace(Notification, 'permission', () => ({ get permission() { return 'denied'; } }));
  replace(Notification, 'requestPermission', () => ({
    requestPermission(callback) {
      if (typeof callback === 'function') nativeSetTimeout(() => callback('denied'), 0);
      return Promise.resolve('denied');
    },
  }));
}
