import { dirname } from 'node:path/posix'
import { type ModuleFacts, moduleFacts } from './module-facts.ts'

const MAX_LINES = 400
const MAX_FILES = 30
/** The folder whose files are the list of commands. */
const COMMANDS = 'commands'

/** The folders that a folder of `src/` may import from, besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  util: [],
  stream: ['util'],
  store: ['util', 'stream'],
  ops: ['util', 'stream', 'store'],
  process: ['util'],
  http: ['util', 'stream'],
  formats: ['util', 'stream', 'store', 'ops'],
  inbox: ['util', 'stream', 'store', 'ops', 'process', 'http'],
  subscriptions: ['util', 'stream', 'store', 'ops', 'process'],
  worker: ['util', 'stream', 'store', 'ops', 'process'],
  library: ['util', 'stream', 'store', 'ops', 'worker', 'subscriptions', 'inbox'],
  watchdog: ['util', 'stream', 'store', 'ops', 'process', 'subscriptions', 'http'],
  tui: ['util', 'stream', 'store', 'ops', 'formats', 'subscriptions', 'inbox'],
  lab: ['util', 'stream', 'store', 'ops', 'formats', 'worker', 'process'],
  demo: ['util', 'stream', 'store', 'ops', 'formats', 'worker', 'tui'],
  cli: ['util', 'stream', 'store', 'ops', 'formats', 'process', 'http'],
  commands: [
    'util',
    'stream',
    'store',
    'ops',
    'formats',
    'worker',
    'subscriptions',
    'inbox',
    'watchdog',
    'tui',
    'lab',
    'demo',
    'process',
    'http',
    'cli',
  ],
  'index.ts': ['util', 'stream', 'store', 'ops', 'worker', 'library', 'subscriptions', 'inbox'],
}

const PROCESS_FILES = ['cli/runtime.ts', 'cli/process-runtime.ts', 'commands/main.ts']

/** The only files that may use a name. */
const USED_ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  // The library's API takes the environment as an argument; this is its default.
  'process.env': [...PROCESS_FILES, 'index.ts'],
  'process.argv': PROCESS_FILES,
  'process.exit': ['commands/exit.ts'],
}

const STORE_OPENERS = ['index.ts', 'cli/runtime.ts', 'cli/process-runtime.ts']

/** Names that are impure in `util/`. */
const CLOCKS = ['util/clock.ts', 'util/concurrency.ts']

/** No clock, no randomness, no output: `stream/` decides from its arguments alone. */
const IMPURE =
  /^(new Date|Date\.now|Math\.random|crypto\.random\w*|crypto\.getRandomValues|performance\.now|set(Timeout|Interval|Immediate)|fetch|process\.|console\.)/

/** Every violation of the import direction and of the folders' own rules, one sentence each. */
export function violations(sources: ReadonlyMap<string, string>): string[] {
  const modules = [...sources].map(([path, source]) => moduleFacts(path, source))
  return [...modules.flatMap(ownViolations), ...crowded(modules), ...ambiguous(modules), ...cycles(modules)].sort()
}

/**
 * Share of the files with a single importer, in their own folder: these are parts of that importer rather than concepts
 * that a reader would look up.
 */
export function shareOfParts(sources: ReadonlyMap<string, string>): number {
  const modules = [...sources].map(([path, source]) => moduleFacts(path, source))
  const importers = new Map<string, string[]>()
  for (const { path, files } of modules)
    for (const file of files) importers.set(file, [...(importers.get(file) ?? []), path])
  const isPart = ({ path }: ModuleFacts) => {
    const [only, ...others] = importers.get(path) ?? []
    return only !== undefined && others.length === 0 && dirname(only) === dirname(path)
  }
  return modules.filter(isPart).length / modules.length
}

/** Lines of the files that are loaded with any of these, themselves included. */
export function linesLoaded(sources: ReadonlyMap<string, string>, entries: readonly string[]): number {
  const loaded = new Set(entries)
  let lines = 0
  for (const path of loaded) {
    const source = sources.get(path)
    if (source === undefined) continue
    const module = moduleFacts(path, source)
    for (const file of module.loads) loaded.add(file)
    lines += module.lines
  }
  return lines
}

/** Folders with too many entries to find one. */
function crowded(modules: readonly ModuleFacts[]): string[] {
  const folders = Map.groupBy(modules, ({ path }) => dirname(path))
  return [...folders].flatMap(([folder, { length }]) =>
    length > MAX_FILES && folder !== COMMANDS ? [`${folder} has ${length} files, more than ${MAX_FILES}`] : [],
  )
}

/** Types of one name, which readers cannot distinguish. */
function ambiguous(modules: readonly ModuleFacts[]): string[] {
  const declared = modules.flatMap(({ path, types }) => types.map(name => ({ name, path })))
  return [...Map.groupBy(declared, ({ name }) => name)].flatMap(([name, places]) =>
    places.length > 1 ? [`type ${name} is exported by ${places.map(({ path }) => path).join(' and ')}`] : [],
  )
}

function ownViolations(module: ModuleFacts): string[] {
  return [...wrongDirections(module), ...impurities(module), ...reservedUses(module), ...wrongSize(module)]
}

function wrongDirections({ path, files }: ModuleFacts): string[] {
  const room = roomOf(path)
  const allowed = MAY_IMPORT[room]
  if (allowed === undefined) return [`${path}: no rule says what ${room} may import`]
  const up = files.filter(file => roomOf(file) !== room && !allowed.includes(roomOf(file)) && !isSchema(path, file))
  const clocks = files.filter(file => room === 'stream' && CLOCKS.includes(file))
  const openers = files.filter(file => file === 'store/open.ts' && !STORE_OPENERS.includes(path))
  return [...up, ...clocks, ...openers].map(file => `${path} imports ${file}`)
}

/** The schemas of the output are data: they list the codes of errors. */
function isSchema(path: string, file: string): boolean {
  return roomOf(path) === 'commands' && file.startsWith('../docs/json/')
}

function impurities({ path, packages, uses }: ModuleFacts): string[] {
  if (roomOf(path) !== 'stream') return []
  const impure = packages.filter(name => name !== 'node:crypto' && name !== 'saxes' && name !== 'fontoxpath')
  return [
    ...impure.map(name => `${path} imports ${name}`),
    ...uses.filter(name => IMPURE.test(name)).map(name => `${path} uses ${name}`),
  ]
}

function reservedUses({ path, uses }: ModuleFacts): string[] {
  const reserved = uses.filter(name => USED_ONLY_IN[name] !== undefined && !USED_ONLY_IN[name].includes(path))
  return reserved.map(name => `${path} uses ${name}`)
}

function wrongSize({ path, lines }: ModuleFacts): string[] {
  return lines > MAX_LINES ? [`${path} has ${lines} lines, more than ${MAX_LINES}`] : []
}

function roomOf(path: string): string {
  return path.split('/')[0] ?? path
}

/** Cycles between files, each named once from its first file. Depth first; a file on the current path closes a cycle. */
function cycles(modules: readonly ModuleFacts[]): string[] {
  const imports = new Map(modules.map(module => [module.path, module.files]))
  const done = new Set<string>()
  const found = new Set<string>()
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path)
    if (start >= 0) found.add(cycleText(trail.slice(start)))
    if (start >= 0 || done.has(path)) return
    for (const next of imports.get(path) ?? []) visit(next, [...trail, path])
    done.add(path)
  }
  for (const path of [...imports.keys()].sort()) visit(path, [])
  return [...found]
}

function cycleText(cycle: readonly string[]): string {
  const first = cycle.reduce((least, path, at) => (path < (cycle[least] ?? '') ? at : least), 0)
  const turned = [...cycle.slice(first), ...cycle.slice(0, first)]
  return `cycle: ${[...turned, turned[0]].join(' → ')}`
}
