// Main script of the single executable: Node starts it and knows no other file. The modules of dist/ are assets of the
// executable, and Node's loader gets them from there when they are imported, so that as little is loaded as from files.
import { createRequire, registerHooks } from 'node:module'
import { getAsset } from 'node:sea'
import { pathToFileURL } from 'node:url'
import { enableCompileCache } from '../../bin/compile-cache.js'

// A path below a file, so that no file can be there. A file URL, because bundled CommonJS code calls `createRequire` with it.
const BASE = `${pathToFileURL(process.execPath)}/dist/`

registerHooks({
  resolve(specifier, context, next) {
    const url = specifier.startsWith('.') ? URL.parse(specifier, context.parentURL)?.href : specifier
    return url?.startsWith(BASE) ? { url, format: 'module', shortCircuit: true } : next(specifier, context)
  },
  load(url, context, next) {
    if (!url.startsWith(BASE)) return next(url, context)
    return { source: getAsset(url.slice(BASE.length), 'utf8'), format: 'module', shortCircuit: true }
  },
})

enableCompileCache()
createRequire(process.execPath)(`${BASE}cli.js`).main()
