// What browsers have and jsdom lacks, as far as JupyterLab's modules want it when they are loaded.
const util = require('util');

class Missing {
  observe() {}
  unobserve() {}
  disconnect() {}
}

Object.assign(globalThis, {
  TextDecoder: util.TextDecoder,
  TextEncoder: util.TextEncoder,
  ResizeObserver: Missing,
  DragEvent: globalThis.DragEvent ?? class extends Event {},
  Request: globalThis.Request ?? Missing,
  Headers: globalThis.Headers ?? Missing,
  Response: globalThis.Response ?? Missing,
  fetch:
    globalThis.fetch ?? (() => Promise.reject(new Error('There is no network in unit tests.')))
});
