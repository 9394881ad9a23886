/**
 * Yoga, which lays out for Ink, carries its machine code as text and reads it with `fetch`, for which Node loads all of its
 * HTTP client: a tenth of a second before the first frame. Where there is no `fetch` it decodes the text itself.
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
