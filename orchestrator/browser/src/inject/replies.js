// The functions whose promises another thread or process keeps, by their types. `awaited.js` lets
// the results in. A promise of Chromium's that is neither here nor there has a reason in the table
// of `tests/browser/promises`.

// Parallel threads finish in any order. So these have the order of the requests.
const ORDERED_REPLIES = {
  SubtleCrypto: 'encrypt decrypt sign verify digest deriveBits deriveKey importKey exportKey'
    + ' wrapKey unwrapKey decapsulateBits decapsulateKey encapsulateBits encapsulateKey'
    + ' getPublicKey',
  Blob: 'text arrayBuffer bytes',
};
// In a document this is work for when there is no other task.
if (!globalThis.document) ORDERED_REPLIES.OffscreenCanvas = 'convertToBlob';
const REPLIES = {
  AudioContext: 'close suspend setSinkId',
  BackgroundFetchManager: 'get getIds',
  Cache: 'put delete keys',
  CacheStorage: 'open has delete keys',
  Clients: 'matchAll get claim',
  Clipboard: 'read readText writeText',
  CookieStore: 'get getAll',
  CookieStoreManager: 'subscribe unsubscribe getSubscriptions',
  CredentialsContainer: 'preventSilentAccess store',
  DataTransferItem: 'getAsFileSystemHandle',
  Document: 'browsingTopics hasPrivateToken hasRedemptionRecord hasStorageAccess'
    + ' hasUnpartitionedCookieAccess',
  GPU: 'requestAdapter',
  GPUAdapter: 'requestDevice',
  GPUBuffer: 'mapAsync',
  GPUQueue: 'onSubmittedWorkDone',
  GPUDevice: 'createComputePipelineAsync createRenderPipelineAsync popErrorScope',
  GPUShaderModule: 'getCompilationInfo',
  HID: 'getDevices',
  HTMLMediaElement: 'setSinkId',
  IDBFactory: 'databases',
  Keyboard: 'getLayoutMap lock',
  LockManager: 'query',
  MediaCapabilities: 'decodingInfo encodingInfo',
  MediaDevices: 'enumerateDevices',
  MediaKeySystemAccess: 'createMediaKeys',
  MediaKeys: 'getStatusForPolicy setServerCertificate',
  NavigationPreloadManager: 'enable disable setHeaderValue getState',
  Navigator: 'clearAppBadge clearOriginJoinedAdInterestGroups getBattery'
    + ' getInstalledRelatedApps joinAdInterestGroup leaveAdInterestGroup'
    + ' requestMediaKeySystemAccess setAppBadge',
  NavigatorLogin: 'setStatus',
  NavigatorManagedData: 'getManagedConfiguration',
  NavigatorUAData: 'getHighEntropyValues',
  OfflineAudioContext: 'startRendering',
  PaymentRequest: 'abort canMakePayment hasEnrolledInstrument',
  PeriodicSyncManager: 'register unregister getTags',
  Permissions: 'query',
  PresentationRequest: 'getAvailability',
  PressureObserver: 'observe',
  PushManager: 'getSubscription permissionState',
  PushSubscription: 'unsubscribe',
  RTCPeerConnection: 'addIceCandidate createAnswer createOffer getStats setLocalDescription'
    + ' setRemoteDescription',
  RTCRtpReceiver: 'getStats',
  RTCRtpSender: 'getStats replaceTrack setParameters',
  RemotePlayback: 'watchAvailability cancelWatchAvailability',
  ScreenOrientation: 'lock',
  Serial: 'getPorts',
  ServiceWorkerContainer: 'getRegistration getRegistrations',
  ServiceWorkerRegistration: 'getNotifications showNotification unregister',
  StorageBucket: 'estimate expires getDirectory persist persisted setExpires',
  StorageBucketManager: 'open keys delete',
  StorageManager: 'estimate persisted persist getDirectory',
  SyncManager: 'register getTags',
  USB: 'getDevices',
  VideoFrame: 'copyTo',
  WakeLock: 'request',
  WakeLockSentinel: 'release',
  WorkerNavigator: 'clearAppBadge setAppBadge',
  XRSystem: 'isSessionSupported',
};
function each(table, replaceOne) {
  for (const [type, names] of Object.entries(table)) {
    for (const name of names.split(' ')) replaceOne(type, name);
  }
}
// Makes a function that lets its promise in by `wait`.
const waiting = (name, wait) => (native) => ({
  [name](...args) { return wait(apply(native, this ?? globalThis, args)); },
});
const inTurn = (promise) => blockTime(promise);
const inTurnOfRequests = (promise) => blockTime(inRequestOrder(promise), 'work');
const shortly = (promise) => blockTime(promise, 'short');
each(ORDERED_REPLIES, (type, name) => replaceWhenDefined(type, name, (native) => {
  if (type !== 'SubtleCrypto') return waiting(name, inTurnOfRequests)(native);
  nativeSubtle[name] = native;
  return {
    [name](...args) {
      return inTurnOfRequests(withSeed(name, this, args, () => apply(native, this, args)));
    },
  };
}));
each(REPLIES, (type, name) => replaceWhenDefined(type, name, waiting(name, inTurn)));
const untilDone = (promise) => blockTime(promise, 'work');
replaceWhenDefined('BaseAudioContext', 'decodeAudioData', waiting('decodeAudioData', untilDone));
// These may also wait for the page itself, for a person or for what never comes. So they are waited
// for as long as for a lock.
const SHORT_REPLIES = {
  AudioDecoder: 'flush',
  AudioEncoder: 'flush',
  Clipboard: 'write',
  ClipboardItem: 'getType',
  Document: 'requestStorageAccess',
  HTMLMediaElement: 'setMediaKeys',
  ImageDecoder: 'decode',
  MediaKeySession: 'generateRequest load update close remove',
  MediaStreamTrack: 'applyConstraints',
  Navigator: 'requestMIDIAccess',
  PushManager: 'subscribe',
  VideoDecoder: 'flush',
  VideoEncoder: 'flush',
  XRSystem: 'requestSession',
};
each(SHORT_REPLIES, (type, name) => replaceWhenDefined(type, name, waiting(name, shortly)));
// A place is told, or refused, to one of two functions.
replace(globalThis.Geolocation?.prototype, 'getCurrentPosition', (native) => ({
  getCurrentPosition(...args) {
    let come = null;
    const told = new NativePromise((done) => { come = done; });
    const tell = (callback) => typeof callback !== 'function' ? callback
      : (value) => come(() => callback(value));
    apply(native, this, [tell(args[0]), tell(args[1] ?? (() => {})), ...args.slice(2)]);
    apply(nativeThen, blockTime(told), [(call) => {
      try { call(); } catch (error) { reportError(error); }
    }]);
  },
}));
// The events of a registration follow its promise at once, so that this may not wait for its turn.
const atOnce = (promise) => blockTime(promise, 'event');
replaceWhenDefined('ServiceWorkerContainer', 'register', waiting('register', atOnce));
// Static functions, and those of the scope itself.
const STATIC_REPLIES = {
  AudioDecoder: 'isConfigSupported',
  AudioEncoder: 'isConfigSupported',
  Credential: 'isConditionalMediationAvailable',
  DeviceMotionEvent: 'requestPermission',
  DeviceOrientationEvent: 'requestPermission',
  IdleDetector: 'requestPermission',
  ImageDecoder: 'isTypeSupported',
  LanguageDetector: 'availability create',
  LanguageModel: 'availability create',
  PaymentRequest: 'getSecurePaymentConfirmationCapabilities securePaymentConfirmationAvailability',
  PublicKeyCredential: 'getClientCapabilities isConditionalMediationAvailable'
    + ' isUserVerifyingPlatformAuthenticatorAvailable signalAllAcceptedCredentials'
    + ' signalCurrentUserDetails signalUnknownCredential',
  RTCPeerConnection: 'generateCertificate',
  Summarizer: 'availability create',
  VideoDecoder: 'isConfigSupported',
  VideoEncoder: 'isConfigSupported',
  globalThis: 'getScreenDetails queryLocalFonts',
};
each(STATIC_REPLIES, (type, name) => {
  replaceStaticWhenDefined(type, name, waiting(name, inTurn));
});
replace(globalThis, 'createImageBitmap', waiting('createImageBitmap', inTurnOfRequests));
for (const name of ['compile', 'instantiate']) {
  replace(globalThis.WebAssembly, name, waiting(name, inTurnOfRequests));
}
if (isDocument) {
  for (const name of ['compileStreaming', 'instantiateStreaming']) {
    replace(globalThis.WebAssembly, name, waiting(name, inTurn));
  }
}
