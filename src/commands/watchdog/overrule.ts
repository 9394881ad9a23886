import { commandLine } from '../../cli/command-line.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { WatchdogCommandOptions } from './settings.ts'

/** The command that ends the events that the circuit breaker of this watchdog holds back, and no others. */
export function overruleCommand({ match, onDue, config }: WatchdogCommandOptions, runtime: Runtime): string {
  const flags = { '--match': match, '--on-due': onDue, '--config': config }
  const given = Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]))
  return commandLine(runtime, ['watchdog', '--once', ...given, '--max-share', '100%'])
}
