// The files that an origin may keep (`navigator.storage.getDirectory`). What happens to them takes
// none of the page's time, and they have its times. Expects `blockTime` and `now`.

const FILE_REPLIES = {
  FileSystemHandle: 'isSameEntry remove move queryPermission requestPermission',
  FileSystemObserver: 'observe',
  FileSystemDirectoryHandle: 'getDirectoryHandle getFileHandle removeEntry resolve',
  FileSystemFileHandle: 'createSyncAccessHandle',
  FileSystemWritableFileStream: 'write seek truncate',
};
for (const [type, names] of Object.entries(FILE_REPLIES)) {
  for (const name of names.split(' ')) {
    replaceWhenDefined(type, name, (native) => ({ [name](...args) { return blockTime(apply(native, this, args)); } }));
  }
}
// What is written to a file goes through a stream, by its own methods or a writer's, and the
// entries of a directory come one by one.
const fileStreams = new WeakSet();
const fileWriters = new WeakSet();
replaceWhenDefined('FileSystemFileHandle', 'createWritable', (native) => ({
  createWritable(...args) {
    const creating = apply(native, this, args);
    if (creating instanceof NativePromise) apply(nativeThen, creating, [(stream) => { fileStreams.add(stream); }, () => {}]);
    return blockTime(creating);
  },
}));
for (const [type, names, known] of [
  ['WritableStream', 'close abort', fileStreams],
  ['WritableStreamDefaultWriter', 'write close abort', fileWriters],
]) {
  for (const name of names.split(' ')) {
    replace(globalThis[type]?.prototype, name, (native) => ({
      [name](...args) {
        const writing = apply(native, this, args);
        return known.has(this) ? blockTime(writing) : writing;
      },
    }));
  }
}
replace(globalThis.WritableStream?.prototype, 'getWriter', (native) => ({
  getWriter() {
    const writer = apply(native, this, []);
    if (fileStreams.has(this)) fileWriters.add(writer);
    return writer;
  },
}));
replace(globalThis.ReadableStream?.prototype, 'pipeTo', (native) => ({
  pipeTo(...args) {
    const piping = apply(native, this, args);
    return fileStreams.has(args[0]) ? blockTime(piping, 'whole') : piping;
  },
}));
let iterators = null;
for (const name of ['entries', 'keys', 'values', Symbol.asyncIterator]) {
  replaceWhenDefined('FileSystemDirectoryHandle', name, (native) => ({
    [name]() {
      const iterator = apply(native, this, []);
      if (!iterators) {
        iterators = Object.getPrototypeOf(iterator);
        replace(iterators, 'next', (next) => ({ next() { return blockTime(apply(next, this, [])); } }));
      }
      return iterator;
    },
  }));
}

// A file that is read has the page's time of when its state was first seen: the disk's is real.
const timesOnDisk = new Map();
const fileTimes = new WeakMap();
const nativeLastModified = globalThis.File && Object.getOwnPropertyDescriptor(File.prototype, 'lastModified').get;
replaceWhenDefined('FileSystemFileHandle', 'getFile', (native) => ({
  getFile() {
    return blockTime(apply(nativeThen, apply(native, this, []), [(file) => {
      const real = apply(nativeLastModified, file, []);
      if (!timesOnDisk.has(real)) timesOnDisk.set(real, now());
      fileTimes.set(file, timesOnDisk.get(real));
      return file;
    }]));
  },
}));
replace(globalThis.File?.prototype, 'lastModified', (native) => ({
  get lastModified() { return fileTimes.get(this) ?? apply(native, this, []); },
}));
replace(globalThis.File?.prototype, 'lastModifiedDate', (native) => ({
  get lastModifiedDate() { return fileTimes.has(this) ? new Date(fileTimes.get(this)) : apply(native, this, []); },
}));
