import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** Node's own modules that a start often does not need: loading one takes up to 8 ms. */
const LAZY = ['child_process', 'crypto', 'fs', 'fs/promises', 'os', 'readline/promises', 'timers/promises', 'util']

/**
 * Loads some of Node's modules when a function of theirs is first called, in our own code and in commander. Also takes
 * `node:process` for the global it is: as a module it lists all its properties, which opens standard input and output.
 */
export function lazyBuiltins() {
  return {
    name: 'lazy-builtins',
    resolveId: {
      filter: { id: /^(node:)?[a-z_/]+$/ },
      handler(source, importer) {
        const name = source.replace(/^node:/, '')
        if (name === 'process') return '\0process'
        const dependency = importer?.includes('/node_modules/') && !importer.includes('/node_modules/commander/')
        return LAZY.includes(name) && !dependency ? `\0lazy:${name}` : null
      },
    },
    load: {
      filter: { id: /^\0(process$|lazy:)/ },
      handler: id => (id === '\0process' ? PROCESS : stub(id.slice('\0lazy:'.length))),
    },
  }
}

// The names are those that dependencies import; another one fails the build.
const PROCESS = 'export default globalThis.process; export const { cwd, env } = globalThis.process'

/** Functions as functions that load the module, its constants as an object that does; an import of anything else fails the build. */
function stub(name) {
  const builtin = require(`node:${name}`)
  const functions = Object.entries(builtin).filter(([key, value]) => isFunction(key, value))
  return [
    `const load = () => globalThis.process.getBuiltinModule('node:${name}')`,
    ...functions.map(([key, value]) => `export const ${key} = ${lazyFunction(key, value)}`),
    ...(builtin.constants === undefined
      ? []
      : ['export const constants = new Proxy({}, { get: (_, key) => load().constants[key] })']),
    'export default new Proxy({}, { get: (_, key) => load()[key] })',
  ].join('\n')
}

/** Some functions have another one as a property: `realpathSync.native`. */
function lazyFunction(key, value) {
  const own = Object.keys(value).filter(name => isFunction(name, value[name]))
  const call = `(...args) => load().${key}(...args)`
  if (own.length === 0) return call
  return `Object.assign(${call}, { ${own.map(name => `${name}: (...args) => load().${key}.${name}(...args)`).join(', ')} })`
}

function isFunction(key, value) {
  return typeof value === 'function' && /^[a-z]\w*$/.test(key)
}
