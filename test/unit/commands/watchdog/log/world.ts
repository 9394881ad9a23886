import type { GlobalOptions } from '../../../../../src/cli/options.ts'
import { openLog, type WatchdogLog } from '../../../../../src/commands/watchdog/log/log.ts'
import { AT } from '../../../watchdog/reports.ts'
import { fakeRuntime, newWorld } from '../../support.ts'

/** A log, and its output. */
export interface LogWorld {
  readonly log: WatchdogLog
  nowMs: number
  /** The lines since the last call. */
  lines(): string[]
  /** The same, read as JSON. */
  entries(): Record<string, unknown>[]
}

/** @param terminal whether stderr is one */
export async function logWorld(options: GlobalOptions = {}, terminal = false): Promise<LogWorld> {
  const world = newWorld()
  world.nowMs = AT
  const { runtime, written } = fakeRuntime(world, [], { terminal })
  const log = await openLog({ time: 'utc', color: 'never', ...options }, runtime)
  const lines = (): string[] => {
    const text = written.stderr
    written.stderr = ''
    return text.split('\n').filter(line => line !== '')
  }
  return {
    log,
    get nowMs() {
      return world.nowMs
    },
    set nowMs(nowMs) {
      world.nowMs = nowMs
    },
    lines,
    entries: () => lines().map(line => JSON.parse(line)),
  }
}
