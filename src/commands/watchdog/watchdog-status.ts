import type { Command } from 'commander'
import { parsed, type Run, reads } from '../../cli/command.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { WatchdogStatusOptions } from './status.ts'

export function register(parent: Command, runtime: Runtime, go: Run<WatchdogStatusOptions> = run): void {
  const command = parent.command('status').option('-w, --watch', 'draw it again in place, on a terminal')
  const description = {
    summary: 'who watches this store, what they did and what ends next',
    examples: [
      ['watchdog status', 'the watchdogs of this store, wherever they run'],
      ['watchdog status -w', 'drawn again in place, until Ctrl-C'],
      ['watchdog status -o json', 'for scripts'],
    ],
    formats: ['table', 'json'],
  } as const
  reads(command, runtime, description, at => parsed<WatchdogStatusOptions>(at, []), go)
}

const run: Run<WatchdogStatusOptions> = async (options, runtime) => {
  const { watchdogStatus } = await import('./status.ts')
  return watchdogStatus(options, runtime)
}
