import { createRequire } from 'node:module'
import { promisify } from 'node:util'

const require = createRequire(import.meta.url)

/** Modules of Node that a start often does not need: loading one takes up to 8 ms. */
const LAZY = [
  'child_process',
  'crypto',
  'fs',
  'fs/promises',
  'os',
  'readline/promises',
  'sea',
  'timers/promises',
  'util',
]

/**
 * Loads some of Node's modules when one of their functions is first called, in our own code and in commander. Also replaces
 * `node:process` with the global: as a module it lists all its properties, which opens standard input and output.
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

// The names that dependencies import; any other fails the build.
const PROCESS = 'export default globalThis.process; export const { cwd, env } = globalThis.process'

/** Wraps functions in functions that load the module, and constants in an object that does; any other import fails the build. */
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

/**
 * Some functions have another function as a property, `realpathSync.native`, or a form of their own for `util.promisify`, such
 * as `execFile`.
 */
function lazyFunction(key, value) {
  const own = Object.keys(value).filter(name => isFunction(name, value[name]))
  const properties = own.map(name => `${name}: (...args) => load().${key}.${name}(...args)`)
  if (promisify.custom in value) {
    properties.push(`[${PROMISIFY}]: (...args) => load().${key}[${PROMISIFY}](...args)`)
  }
  const call = `(...args) => load().${key}(...args)`
  return properties.length === 0 ? call : `Object.assign(${call}, { ${properties.join(', ')} })`
}

const PROMISIFY = "Symbol.for('nodejs.util.promisify.custom')"

function isFunction(key, value) {
  return typeof value === 'function' && /^[a-z]\w*$/.test(key)
}
