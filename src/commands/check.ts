import { type Command, Option } from 'commander'
import { type FailureFormat, type Run, reads } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { count, duration, pattern } from '../cli/values.ts'
import type { CheckOptions } from './check/options.ts'

const NOTES = `
Four things are checked in one look at the listing:
  overdue     streams with an event that has outlived its time limit for longer than --overdue-for
  stuck       leases held for longer than --stuck-after, and infinite ones whose holder nobody knows
  unreadable  documents that cannot be read
  watchdog    how long ago the last sweep of a watchdog ended; one whose breaker is open, shards that none holds. Without
              any watchdog: a warning where a stream has a time limit, critical with --require-watchdog. A warning too where
              another program left events to be closed or joins to be released, and nobody has for --overdue-for

Exit: 0 ok, 1 warning, 2 critical, 3 unknown. Whatever keeps it from looking is 3 and stands on stdout: bad usage, no store,
no rights, no answer, an interruption.
`

export function register(parent: Command, runtime: Runtime, go: Run<CheckOptions> = run): void {
  const command = parent
    .command('check')
    .addOption(
      new Option(
        '--match <glob>',
        'names like this: * stays within a /, ** does not; also ? [a-z] [!a-z] {a,b}',
      ).argParser(pattern('--match')),
    )
    .addOption(
      new Option('--within <duration>', 'give up after so long: exit 3 (default: 30s)').argParser(duration('--within')),
    )
  for (const option of [...limitFlags(), ...watchdogFlags()]) command.addOption(option.helpGroup('Limits:'))
  command.addHelpText('after', NOTES)
  const description = {
    summary: 'how the store stands, for monitoring: overdue, stuck leases, unreadable streams, watchdog',
    examples: [
      ['check', 'a plugin for Nagios, Icinga and their like'],
      ["check --match 'orders/**' --crit-overdue 50 --overdue-for 10m", 'with limits of your own'],
      ['check --require-watchdog', 'critical where no watchdog runs'],
      ['check -o prometheus', "for the textfile collector of Prometheus' node_exporter"],
    ],
    formats: ['nagios', 'prometheus', 'json'],
  } as const
  reads(command, runtime, description, [], go)
}

/** Each count is bad from its limit on. */
function limitFlags(): Option[] {
  const limit = (flag: string, what: string) => new Option(`${flag} <n>`, what).argParser(count(flag, 1))
  const time = (flag: string, what: string) =>
    new Option(`${flag} <duration>`, what).argParser(duration(flag, { zero: true }))
  return [
    time('--overdue-for', 'only what has been overdue for so long: a watchdog needs a moment (default: 1m)'),
    limit('--warn-overdue', 'warning from so many overdue streams on (default: 1)'),
    limit('--crit-overdue', 'critical from so many on (default: 10)'),
    time('--stuck-after', 'a lease held for longer is stuck (default: 10m)'),
    limit('--warn-stuck', 'warning from so many stuck leases on (default: 1)'),
    limit('--crit-stuck', 'critical from so many on (default: 10)'),
    limit('--warn-unreadable', 'warning from so many unreadable streams on (default: 1)'),
    limit('--crit-unreadable', 'critical from so many on (default: never)'),
  ]
}

function watchdogFlags(): Option[] {
  return [
    new Option(
      '--warn-lag <duration>',
      'warning when the last sweep ended so long ago (default: three of its intervals and 10s)',
    ).argParser(duration('--warn-lag')),
    new Option('--crit-lag <duration>', 'critical when it ended so long ago (default: ten intervals and 1m)').argParser(
      duration('--crit-lag'),
    ),
    new Option('--require-watchdog', 'critical where there is no watchdog'),
  ]
}

/**
 * Monitoring reads the exit code. To a plugin's reader 1 is a warning and 2 is critical, so nothing that goes wrong with
 * `check` itself, bad usage included, may end with those: 3 is unknown.
 */
export const failure: FailureFormat = {
  exit: 3,
  async print(what, runtime) {
    const { printUnknown } = await import('./check/unknown.ts')
    await printUnknown(what, runtime)
  },
}

const run: Run<CheckOptions> = async (...given) => (await import('./check/run.ts')).checkStore(...given)
