import { isBuiltin } from 'node:module'
import { rolldown } from 'rolldown'
import { minifySync } from 'rolldown/utils'
import { embeddedWasm } from './embedded-wasm.mjs'
import { fasterInk } from './faster-ink.mjs'
import { lazyBuiltins } from './lazy-builtins.mjs'

/** Entry files of threads, beside the code that starts them. */
export const THREADS = { 'chunks/thread-main': 'src/store/sqlite/append/thread-main.ts' }
/** Entry files of dist/: the library, the program and its threads. */
export const ENTRIES = { index: 'src/index.ts', cli: 'src/commands/main.ts', ...THREADS }

/**
 * Bundles the library and the program with all dependencies; dynamic imports become lazy chunks.
 *
 * @param {string} root folder of the checkout
 * @param {Record<string, string>} entries
 * @returns {Promise<import('rolldown').OutputChunk[]>}
 */
export async function bundle(root, entries = ENTRIES) {
  const build = await rolldown({
    cwd: root,
    input: entries,
    platform: 'node',
    preserveEntrySignatures: 'allow-extension',
    transform: {
      // The oldest Node in package.json's "engines"; it has no `using`, for one.
      target: 'node22',
      // Ink imports React's devtools only in development, never in a bundle.
      define: { 'process.env.NODE_ENV': '"production"' },
    },
    plugins: [stub('react-devtools-core'), noWriteAtExit, lazyBuiltins(), lazyWidths, fasterInk(), embeddedWasm],
    onLog: failOnWarnings,
  })
  const first = chunksOf(await build.generate(OUTPUT))
  const output = await build.generate({ ...OUTPUT, codeSplitting: fewFiles(first), plugins: [packedProgram] })
  const chunks = chunksOf(output)
  await build.close()
  refuseExternals(chunks)
  return chunks
}

const OUTPUT = {
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: ({ facadeModuleId }) => `chunks/${runOf(facadeModuleId) ?? '[name]'}.js`,
  minify: false,
  comments: false,
}

/**
 * Removes white space from chunks that only the program loads, for a faster start. Chunks of the library keep it: for an
 * uncaught error Node prints the source line, which must not be a whole file. Names stay in both, so that stack traces are
 * readable. Both become ASCII.
 */
const packedProgram = {
  name: 'packed-program',
  generateBundle(_, bundle) {
    const chunks = chunksOf({ output: Object.values(bundle) })
    const next = ({ imports, dynamicImports }) => [...imports, ...dynamicImports]
    const ofLibrary = new Set(reachedFrom(chunks, 'index.js', next))
    for (const chunk of chunks) {
      if (!ofLibrary.has(chunk.fileName)) chunk.code = packed(chunk)
      chunk.code = inAscii(chunk)
    }
  },
}

function packed({ fileName, code }) {
  const { code: made, errors } = minifySync(fileName, code, PACKED)
  if (errors.length > 0) throw new Error(`${fileName}: ${errors[0].message}`)
  return made
}

const PACKED = { compress: false, mangle: false, codegen: { removeWhitespace: true }, module: true }

/** With a single character outside Latin-1, V8 keeps the whole file in twice the memory, which slows the start by some 3 %. */
function inAscii({ fileName, code }) {
  // After a backslash, and in a raw template, the escape would mean something else.
  const odd = /\\[^\0-\x7f]|String\.raw`[^`]*[^\0-\x7f`]/.exec(code)
  if (odd !== null) throw new Error(`${fileName}: ${odd[0]} cannot be written in ASCII`)
  return code.replace(/[^\0-\x7f]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Every command has a `run.ts`: chunk names must identify the command in a stack trace. */
function runOf(moduleId) {
  const folder = /[\\/]([\w-]+)[\\/]run\.ts$/.exec(moduleId ?? '')?.[1]
  return folder === undefined ? undefined : `run-${folder}`
}

function chunksOf({ output }) {
  return output.filter(item => item.type === 'chunk')
}

/**
 * Each file costs a third of a millisecond to load, plus time per kilobyte, so the code of commands comes in few files,
 * grouped by frequency of use: code shared with the start, flags shared by the declarations of commands, listing the embedded
 * store, checking it for monitoring, running a program as a worker (with what every change needs), reading and changing
 * streams, and the rest. Each declaration is a file of its own, as a start loads one of them. Code that imports a heavy
 * package stays separate.
 */
const TIERS = [
  {
    name: 'list',
    entries: ['commands/ls/run.ts', 'cli/store.ts', 'store/open.ts', 'store/sqlite/store.ts', 'cli/problem-text.ts'],
    // shared by the next two, which otherwise would load each other
    modules: ['ops/read-system-document.ts'],
  },
  { name: 'check', entries: ['commands/check/run.ts'] },
  { name: 'exec', entries: ['commands/exec/run.ts'] },
  {
    name: 'change',
    entries: [
      'commands/show/run.ts',
      'commands/event/run.ts',
      'commands/batch/batch.ts',
      'commands/batch/planned.ts',
      'commands/init/run.ts',
    ],
  },
]

const DECLARATION = /[\\/]src[\\/]commands[\\/][\w-]+\.ts$/

function fewFiles(chunks) {
  const start = loadedWith(chunks, 'cli.js')
  const light = new Set(
    chunks.flatMap(chunk => (isLight(loadedWith(chunks, chunk.fileName), start) ? chunk.moduleIds : [])),
  )
  const domain =
    /[\\/](src[\\/](util|stream|store|ops|formats|process|worker|subscriptions|inbox)|node_modules[\\/](saxes|xmlchars|string-width|strip-ansi|ansi-regex|get-east-asian-width))[\\/]/
  const commands = /[\\/]src[\\/](cli|commands)[\\/]/
  const parser = /[\\/]node_modules[\\/]commander[\\/]/
  // The library uses the domain too, so no file may mix it with the command line.
  const taken = new Set(start)
  // What a thread does when it is loaded must not happen anywhere else.
  for (const name of Object.keys(THREADS))
    taken.add(chunks.find(({ fileName }) => fileName === `${name}.js`)?.facadeModuleId)
  const own = chunks.find(({ fileName }) => fileName === 'cli.js')?.facadeModuleId
  const groups = [
    { name: 'node', test: id => id.startsWith('\0lazy:') || id === '\0process' || id.includes('@oxc-project+runtime') },
    { name: 'base', test: id => start.has(id) && domain.test(id) },
    { name: 'start', test: id => start.has(id) && id !== own && (commands.test(id) || parser.test(id)) },
  ]
  const declarations = chunks.filter(({ facadeModuleId }) => DECLARATION.test(facadeModuleId ?? ''))
  for (const { facadeModuleId } of declarations) if (facadeModuleId !== own) taken.add(facadeModuleId)
  const flags = { name: 'flags', modules: declarations.flatMap(({ fileName }) => [...loadedWith(chunks, fileName)]) }
  for (const { name, modules } of [flags, ...tiers(chunks), { name: 'more', modules: light }]) {
    const members = new Set([...modules].filter(id => light.has(id) && !taken.has(id)))
    for (const id of members) taken.add(id)
    groups.push({ name, test: id => members.has(id) && domain.test(id) })
    groups.push({ name: `${name}-commands`, test: id => members.has(id) && (commands.test(id) || name === 'flags') })
  }
  return { includeDependenciesRecursively: false, groups }
}

function tiers(chunks) {
  const all = chunks.flatMap(({ moduleIds }) => moduleIds)
  const named = (modules = []) => all.filter(id => modules.some(module => isSource(id, module)))
  return TIERS.map(({ name, entries, modules }) => ({
    name,
    modules: [...loadedBy(chunks, entries), ...named(modules)],
  }))
}

/** Modules that are loaded with any of these source files. @throws if one is no longer the entry of a chunk */
function loadedBy(chunks, entries) {
  const modules = new Set()
  for (const entry of entries) {
    const chunk = chunks.find(({ facadeModuleId }) => isSource(facadeModuleId, entry))
    if (chunk === undefined) throw new Error(`build/bundle.mjs: nothing imports ${entry} when it is needed any more`)
    for (const id of loadedWith(chunks, chunk.fileName)) modules.add(id)
  }
  return modules
}

function isSource(moduleId, file) {
  return moduleId?.replaceAll('\\', '/').endsWith(`/src/${file}`)
}

/** Modules that are loaded together with a chunk. */
function loadedWith(chunks, fileName) {
  const byName = new Map(chunks.map(chunk => [chunk.fileName, chunk]))
  const reached = reachedFrom(chunks, fileName, ({ imports }) => imports)
  return new Set(reached.flatMap(name => byName.get(name)?.moduleIds ?? []))
}

/** Names of the files that a file imports, transitively, including itself. */
function reachedFrom(chunks, fileName, next) {
  const byName = new Map(chunks.map(chunk => [chunk.fileName, chunk]))
  const reached = new Set([fileName])
  for (const name of reached) {
    const chunk = byName.get(name)
    if (chunk !== undefined) for (const imported of next(chunk)) reached.add(imported)
  }
  return [...reached]
}

function isLight(loaded, start) {
  const usual = /[\\/]node_modules[\\/](saxes|xmlchars|string-width|strip-ansi|ansi-regex|get-east-asian-width)[\\/]/
  return [...loaded].every(id => !id.includes('node_modules') || usual.test(id) || start.has(id))
}

/** Replaces a package with an empty module. */
export function stub(name) {
  return {
    name: `stub-${name}`,
    resolveId: { filter: { id: new RegExp(`^${name}$`) }, handler: () => `\0${name}` },
    load: { filter: { id: new RegExp(`^\0${name}$`) }, handler: () => 'export default {}' },
  }
}

/**
 * At exit Ink shows the cursor by writing to stderr, which may be a file by then. Our code that hides the cursor also shows
 * it again.
 */
const noWriteAtExit = {
  name: 'no-write-at-exit',
  resolveId: { filter: { id: /^restore-cursor$/ }, handler: () => '\0restore-cursor' },
  load: { filter: { id: /^\0restore-cursor$/ }, handler: () => 'export default () => {}' },
}

/**
 * string-width creates a segmenter and regular expressions for all emoji on loading: 30 ms, although few texts need them.
 * Behind a `require` it is loaded at the first call.
 */
const lazyWidths = {
  name: 'lazy-widths',
  transform: {
    filter: { id: /[\\/]src[\\/]formats[\\/]terminal[\\/]width\.ts$/ },
    handler(code) {
      const eager = "import stringWidth from 'string-width'"
      if (!code.includes(eager)) throw new Error('formats/terminal/width.ts imports string-width in another way now')
      return code.replace(eager, "const stringWidth = (text: string): number => require('string-width').default(text)")
    },
  },
}

/** A library that is not there would fail for users; a file that is imported both ways is loaded at each start. */
const FATAL = new Set(['UNRESOLVED_IMPORT', 'INEFFECTIVE_DYNAMIC_IMPORT'])

function failOnWarnings(level, log, handle) {
  handle(FATAL.has(log.code) ? 'error' : level, log)
}

/** The published package has no dependencies, so an import that is neither Node's nor ours would fail for users. */
function refuseExternals(chunks) {
  const own = new Set(chunks.map(chunk => chunk.fileName))
  const imports = chunks.flatMap(chunk => [...chunk.imports, ...chunk.dynamicImports])
  const foreign = imports.filter(name => !own.has(name) && !isBuiltin(name))
  if (foreign.length > 0) throw new Error(`not bundled: ${[...new Set(foreign)].join(', ')}`)
}
