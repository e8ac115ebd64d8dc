// What browsers have and jsdom lacks.
const { TextDecoder, TextEncoder } = require('util');

Object.assign(globalThis, { TextDecoder, TextEncoder });
globalThis.fetch ??= fetch;
globalThis.Request ??= class Request {};
globalThis.Headers ??= class Headers {};
globalThis.Response ??= class Response {};
globalThis.ResizeObserver = class ResizeObserver {
  observe() {}
  unobserve() {}
  disconnect() {}
};
globalThis.DragEvent ??= class DragEvent extends Event {};
globalThis.matchMedia ??= () => ({ matches: false, addListener() {}, removeListener() {} });
