import { constants } from 'node:os'
import { type ColourChoice, hasColour } from '../../cli/color.ts'
import { EndsWith } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { usualIntervalMs } from '../../cli/store.ts'
import { keepHeapSmall } from '../../cli/v8-flags.ts'
import { VERSION } from '../../cli/version.ts'
import type { Glob } from '../../ops/glob.ts'
import type { DashboardOptions } from '../../tui/options.ts'
import { themeFor } from '../../tui/view/theme.ts'
import type { ProgramRuntime } from './dashboard.ts'
import type { ThemeChoice } from './options.ts'
import { type PortsOptions, portsOf } from './ports.ts'

/** How the dashboard begins; what is not said is as usual. */
export interface TopStart extends Pick<DashboardOptions, 'writes'>, Partial<Pick<DashboardOptions, Usual>> {
  readonly stream?: string
  readonly theme?: ThemeChoice
  readonly color?: ColourChoice
  /** Only streams of these names, with the pattern as it was given. */
  readonly match?: { readonly text: string; readonly glob: Glob }
}

type Usual = 'intervalMs' | 'isAscii' | 'time'

/**
 * The dashboard over the store that is open, until it was quit or a signal ended it.
 *
 * @throws EndsWith a signal of the terminal ended it, such as SIGHUP: quietly, with 128 and its number
 */
export async function openTop(start: TopStart, runtime: ProgramRuntime): Promise<void> {
  // A large stream is read whole each time it moves.
  await keepHeapSmall()
  const { opened, env } = runtime
  if (opened === undefined) throw new Error('no store was opened')
  const { stream, match, writes, theme = 'auto', color = 'auto', isAscii = false, time = 'relative' } = start
  let stopped: readonly string[] = []
  const portsOptions: PortsOptions = {
    mayUnlock: writes !== 'never',
    onStopped(lines) {
      stopped = lines
    },
    ...(match && { match: match.text }),
  }
  const shown = runtime.openDashboard({
    ports: portsOf(opened, portsOptions, runtime),
    intervalMs: start.intervalMs ?? usualIntervalMs(opened.store),
    writes,
    theme: themeFor(theme, { colorFgBg: env.COLORFGBG, hasColour: hasColour(color, env, true) }),
    isAscii,
    time,
    version: VERSION,
    ...(stream === undefined ? {} : { stream }),
    ...(match === undefined ? {} : { match: match.glob }),
  })
  // What a change has come to that was stopped by quitting nobody has seen, nor how the rest is done.
  const end = await shown.finally(() => sayAll(stopped, runtime))
  if (end.kind === 'stopped') throw new EndsWith(128 + constants.signals[end.signal])
}

async function sayAll(lines: readonly string[], { stderr }: Runtime): Promise<void> {
  if (lines.length > 0) await stderr.write(`${lines.join('\n')}\n`)
}
