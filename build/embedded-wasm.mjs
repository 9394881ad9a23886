/**
 * Yoga, the layout engine of Ink, embeds its WebAssembly as text and reads it with `fetch`, for which Node loads its whole
 * HTTP client: a tenth of a second before the first frame. Without `fetch` it decodes the text itself.
 */
export const embeddedWasm = {
  name: 'embedded-wasm',
  transform: {
    filter: { id: /[\\/]yoga-layout[\\/]dist[\\/]binaries[\\/]yoga-wasm-base64-esm\.js$/ },
    handler(code) {
      if (code.split(FETCHES).length !== 2) throw new Error('yoga-layout loads its machine code in another way now')
      return code.replace(FETCHES, 'return true?Promise.resolve().then(')
    },
  },
}

const FETCHES = 'return w||"function"!=typeof fetch?Promise.resolve().then('
