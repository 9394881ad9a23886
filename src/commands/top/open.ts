import { constants } from 'node:os'
import { shellWord } from '../../cli/command-line.ts'
import { EndsWith } from '../../cli/problem.ts'
import type { Runtime, RuntimeStore } from '../../cli/runtime.ts'
import { requireFile, usualIntervalMs } from '../../cli/store.ts'
import { guardSearches, keepHeapSmall } from '../../cli/v8-flags.ts'
import { VERSION } from '../../cli/version.ts'
import { type ColourChoice, hasColour } from '../../formats/terminal/style.ts'
import type { StreamFilter } from '../../ops/filter.ts'
import type { StreamStore } from '../../store/store.ts'
import type { DashboardOptions } from '../../tui/options.ts'
import { themeFor } from '../../tui/view/theme.ts'
import type { ProgramRuntime } from './dashboard.ts'
import type { ThemeChoice } from './options.ts'
import { type PortsOptions, portsOf } from './ports.ts'

/** Initial settings of the dashboard; all have defaults. */
export interface TopStart extends Pick<DashboardOptions, 'writes'>, Partial<Pick<DashboardOptions, Usual>> {
  readonly stream?: string
  readonly theme?: ThemeChoice
  readonly color?: ColourChoice
  /** Only these streams, and the flags that select them. */
  readonly selection?: { readonly filter: StreamFilter; readonly argv: readonly string[] }
}

type Usual = 'intervalMs' | 'isAscii' | 'time' | 'bell' | 'mouse'

/**
 * Runs the dashboard on the opened store, and on those that the user switches to, until the user quits or a signal ends
 * it.
 *
 * @throws EndsWith after a signal of the terminal such as SIGHUP, with 128 plus its number and without a message
 */
export async function openTop(start: TopStart, runtime: ProgramRuntime): Promise<void> {
  // a large stream is read whole after each change
  await keepHeapSmall()
  await guardSearches()
  if (runtime.opened === undefined) throw new Error('no store was opened')
  let next = await showStore(start, runtime.opened, runtime)
  const { stream: _, ...later } = start
  const writes = start.writes === 'never' ? 'never' : 'locked'
  while (next !== undefined) next = await showStore({ ...later, writes }, next, withOpened(runtime, next))
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

/** @returns the store that the user switched to; `undefined` after the end */
async function showStore(
  start: TopStart,
  opened: RuntimeStore,
  runtime: ProgramRuntime,
): Promise<RuntimeStore | undefined> {
  const {
    stream,
    selection,
    writes,
    theme = 'auto',
    color = 'auto',
    time = 'relative',
    bell = false,
    mouse = false,
  } = start
  const { env } = runtime
  let stopped: readonly string[] = []
  let next: RuntimeStore | undefined
  const portsOptions: PortsOptions = {
    mayUnlock: writes !== 'never',
    onStopped(lines) {
      stopped = lines
    },
    async onSwitch(context) {
      const other = await runtime.openOther({ context })
      // the dashboard would wait for a file that does not exist
      requireFile(other.address)
      next = other
    },
    ...(selection && { filterArgv: selection.argv }),
  }
  const shown = runtime.openDashboard({
    ports: portsOf(opened, portsOptions, runtime),
    intervalMs: start.intervalMs ?? intervalFor(opened.store),
    writes,
    theme: themeFor(theme, { colorFgBg: env.COLORFGBG, hasColour: hasColour(color, env, true) }),
    isAscii: start.isAscii ?? needsAscii(env),
    bell,
    mouse,
    time,
    version: VERSION,
    ...(stream === undefined ? {} : { stream }),
    ...(selection && { filter: selection.filter, selection: selection.argv.map(shellWord).join(' ') }),
  })
  // the screen was gone before it could show the outcome of a change that quitting stopped
  const end = await shown.finally(() => sayAll(stopped, runtime))
  if (end.kind === 'stopped') throw new EndsWith(128 + constants.signals[end.signal])
  return end.kind === 'quit' ? next : undefined
}

/** A locale without UTF-8 that was chosen, and terminals that have no other characters. No locale at all says nothing. */
function needsAscii({ LC_ALL, LC_CTYPE, LANG, TERM = '' }: Runtime['env']): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG || ''
  return /^(vt\d|linux$)/.test(TERM) || (locale !== '' && !/utf-?8/i.test(locale))
}

/** A store that says at once whether anything was written is asked often: nothing else is read until it was. */
function intervalFor(store: StreamStore): number {
  return store.changeToken === undefined ? usualIntervalMs(store) : 100
}

async function sayAll(lines: readonly string[], { stderr }: Runtime): Promise<void> {
  if (lines.length > 0) await stderr.write(`${lines.join('\n')}\n`)
}
