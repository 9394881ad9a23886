import { constants } from 'node:os'
import { shellWord } from '../../cli/command-line.ts'
import { EndsWith } from '../../cli/problem.ts'
import type { Runtime, RuntimeStore } from '../../cli/runtime.ts'
import { describeEach } from '../../cli/several-stores.ts'
import { requireFile, usualIntervalMs } from '../../cli/store.ts'
import { guardSearches, keepHeapSmall } from '../../cli/v8-flags.ts'
import { VERSION } from '../../cli/version.ts'
import { type ColourChoice, hasColour } from '../../formats/terminal/style.ts'
import type { StreamFilter } from '../../ops/filter.ts'
import type { StreamStore } from '../../store/store.ts'
import type { DashboardOptions } from '../../tui/options.ts'
import type { Ports } from '../../tui/ports.ts'
import { themeFor } from '../../tui/view/theme.ts'
import { LineRunner, Writing } from './command-prompt.ts'
import type { ProgramRuntime } from './dashboard.ts'
import type { ThemeChoice } from './options.ts'
import { commandFor, type PortsOptions, portsOf } from './ports.ts'
import { severalPorts } from './several-ports.ts'

/** Initial settings of the dashboard; all have defaults. */
export interface TopStart extends Pick<DashboardOptions, 'writes'>, Partial<Pick<DashboardOptions, Usual>> {
  readonly stream?: string
  readonly theme?: ThemeChoice
  readonly color?: ColourChoice
  /** Only these streams, and the flags that select them. */
  readonly selection?: { readonly filter: StreamFilter; readonly argv: readonly string[] }
}

type Usual = 'intervalMs' | 'isAscii' | 'time' | 'bell' | 'mouse' | 'sort'

/**
 * Runs the dashboard on the opened store, and on those that the user switches to, until the user quits or a signal ends
 * it.
 *
 * @throws EndsWith after a signal of the terminal such as SIGHUP, with 128 plus its number and without a message
 */
export async function openTop(
  start: TopStart,
  runtime: ProgramRuntime,
  stores: readonly RuntimeStore[] = runtime.opened === undefined ? [] : [runtime.opened],
): Promise<void> {
  // a large stream is read whole after each change
  await keepHeapSmall()
  await guardSearches()
  if (stores.length === 0) throw new Error('no store was opened')
  let next = await showStores(start, stores, runtime)
  const { stream: _, ...later } = start
  const writes = start.writes === 'never' ? 'never' : 'locked'
  while (next !== undefined) next = await showStores({ ...later, writes }, next, runtime)
}

/** Opens the stores of one or more contexts. @throws UsageError; CommandFailed for an embedded store without a file */
export async function openContexts(
  contexts: readonly string[],
  runtime: ProgramRuntime,
): Promise<readonly RuntimeStore[]> {
  await describeEach(contexts, runtime)
  const opened = await Promise.all(contexts.map(context => runtime.openOther({ context })))
  // the dashboard would wait for a file that does not exist
  for (const { address } of opened) requireFile(address)
  return opened
}

/** The runtime with another store as the one of the command, so that the command lines it makes name that one. */
function withOpened(runtime: ProgramRuntime, opened: RuntimeStore): ProgramRuntime {
  return {
    ...runtime,
    get kind() {
      return runtime.kind
    },
    opened,
  }
}

/** @returns the stores that the user switched to; `undefined` after the end */
async function showStores(
  start: TopStart,
  stores: readonly RuntimeStore[],
  runtime: ProgramRuntime,
): Promise<readonly RuntimeStore[] | undefined> {
  const isReadOnly = stores.every(store => store.isReadOnly === true)
  const writes = isReadOnly ? 'never' : start.writes
  const {
    stream,
    selection,
    theme = 'auto',
    color = 'auto',
    time = 'relative',
    bell = false,
    mouse = false,
    sort,
  } = start
  const { env } = runtime
  let stopped: readonly string[] = []
  let next: readonly RuntimeStore[] | undefined
  const portsOptions: PortsOptions = {
    mayUnlock: writes !== 'never',
    onStopped(lines) {
      stopped = lines
    },
    async onSwitch(contexts) {
      next = await openContexts([...new Set(contexts.split(','))], runtime)
    },
    ...(selection && { filterArgv: selection.argv }),
  }
  const shown = runtime.openDashboard({
    ports: portsFor(stores, portsOptions, start.intervalMs, runtime),
    intervalMs: start.intervalMs ?? Math.max(...stores.map(({ store }) => intervalFor(store))),
    writes,
    theme: themeFor(theme, { colorFgBg: env.COLORFGBG, hasColour: hasColour(color, env, true) }),
    isAscii: start.isAscii ?? needsAscii(env),
    bell,
    mouse,
    time,
    version: VERSION,
    ...(stream === undefined ? {} : { stream }),
    ...(sort && { sort }),
    ...(selection && { filter: selection.filter, selection: selection.argv.map(shellWord).join(' ') }),
  })
  // the screen was gone before it could show the outcome of a change that quitting stopped
  const end = await shown.finally(() => sayAll(stopped, runtime))
  if (end.kind === 'stopped') throw new EndsWith(128 + constants.signals[end.signal])
  return end.kind === 'quit' ? next : undefined
}

function portsFor(
  stores: readonly RuntimeStore[],
  options: PortsOptions,
  intervalMs: number | undefined,
  runtime: ProgramRuntime,
): Ports {
  const [only, ...others] = stores
  if (only !== undefined && others.length === 0) return portsOf(only, options, withOpened(runtime, only))
  const writing = new Writing(runtime)
  const { mayUnlock, filterArgv = [], onStopped = () => {} } = options
  const contexts = stores.flatMap(({ context }) => context ?? [])
  // Command lines for all stores name all contexts.
  const asOne = { startedAs: runtime.startedAs, opened: { ...only, context: contexts.join(',') } as RuntimeStore }
  return severalPorts(
    stores.map(opened => ({
      context: opened.context ?? opened.address,
      store: opened.store,
      intervalMs: intervalMs ?? intervalFor(opened.store),
      opened,
      ports: portsOf(opened, { ...options, writing }, withOpened(runtime, opened)),
    })),
    {
      lines: new LineRunner(stores, { mayUnlock, writing, onStopped }, runtime),
      onSwitch: options.onSwitch,
      listCommand: subject => commandFor(subject, filterArgv, asOne),
    },
  )
}

/** A locale without UTF-8 that was chosen, and terminals that have no other characters. No locale at all says nothing. */
function needsAscii({ LC_ALL, LC_CTYPE, LANG, TERM = '' }: Runtime['env']): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG || ''
  return /^(vt\d|linux$)/.test(TERM) || (locale !== '' && !/utf-?8/i.test(locale))
}

/** While much is written, a change waits half of it for the screen. Each question costs a wake-up, all day. */
const QUICK_INTERVAL_MS = 250

/** A store that says at once whether anything was written is asked often: nothing else is read until it was. */
function intervalFor(store: StreamStore): number {
  return store.changeToken === undefined ? usualIntervalMs(store) : QUICK_INTERVAL_MS
}

async function sayAll(lines: readonly string[], { stderr }: Runtime): Promise<void> {
  if (lines.length > 0) await stderr.write(`${lines.join('\n')}\n`)
}
