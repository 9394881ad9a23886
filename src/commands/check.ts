import { type Command, Option } from 'commander'
import { parsedWithContexts, type Run, reads } from '../cli/command.ts'
import { severalContexts } from '../cli/options.ts'
import type { Runtime } from '../cli/runtime.ts'
import { count, duration, pattern } from '../cli/values.ts'
import type { CheckOptions } from './check/options.ts'

const NOTES = `
One listing of the store gives these checks:
  overdue     streams with an event overdue for longer than --overdue-for
  failed      streams with a failure within --failed-since that is not acknowledged (leasectl ack)
  blocked     streams that a failure holds up until it is retried or skipped
  undo        streams that could not undo what they did (compensation-failed): critical from the first
  abandoned   streams with a silent worker: a claim has ended, and nobody has taken over for longer than --overdue-for
  waiting     age of the oldest event that is ready, but that no worker has started
  stuck       leases held for longer than --stuck-after, and infinite leases of an unknown holder
  unreadable  documents that cannot be read
  subscriptions  parked streams, or a lag of --warn-subscription-lag; only where there are some, and without --match
  inboxes     the oldest record that is not drained, and dead letters; only where there are some, and without --match
  watchdog    time since the last sweep of a watchdog ended; open circuit breakers; shards without a watchdog. Without
              any watchdog: a warning if a stream has a timeout, critical with --require-watchdog. Also a warning if
              another program left events to close or joins to release, for longer than --overdue-for

Exit: 0 ok, 1 warning, 2 critical, 3 unknown. Every failure of the check itself is 3 and goes to stdout: bad usage, no
store, no permission, no answer, an interruption. Of several stores (-c A,B) the worst one counts: critical, then unknown, then
warning.
`

export function register(parent: Command, runtime: Runtime, go: Run<CheckOptions> = run): void {
  const command = parent
    .command('check')
    .addOption(
      new Option(
        '--match <glob>',
        'glob over the whole name: * stops at a /, ** does not; also ? [a-z] [!a-z] {a,b}',
      ).argParser(pattern('--match')),
    )
    .addOption(
      new Option('--within <duration>', 'give up after this time: exit 3 (default: 30s)').argParser(
        duration('--within'),
      ),
    )
  for (const option of [...limitFlags(), ...watchdogFlags(), ...queueFlags()])
    command.addOption(option.helpGroup('Limits:'))
  command.addOption(severalContexts())
  command.addHelpText('after', NOTES)
  const description = {
    summary:
      'check the health of the store for monitoring: failures, overdue streams, silent workers, leases, watchdog',
    examples: [
      ['check', 'as a plugin of Nagios or Icinga'],
      ["check --match 'orders/**' --crit-overdue 50 --overdue-for 10m", 'with your own limits'],
      ["check --match 'orders/**' --warn-waiting 15m --crit-failed 100 --failed-since 1h", 'about work and failures'],
      ['check --require-watchdog', 'critical if no watchdog runs'],
      ['check -o prometheus', 'for the textfile collector of the Prometheus node_exporter'],
      ['check -c prod-eu,prod-us', 'of several stores: the exit code is that of the worst'],
    ],
    formats: ['nagios', 'prometheus', 'json'],
  } as const
  reads(command, runtime, description, parsedWithContexts<CheckOptions>, go)
}

/** Flags for the limits; a count at its limit is already too high. */
function limitFlags(): Option[] {
  const limit = (flag: string, what: string) => new Option(`${flag} <n>`, what).argParser(count(flag, 1))
  const time = (flag: string, what: string) =>
    new Option(`${flag} <duration>`, what).argParser(duration(flag, { zero: true }))
  const age = (flag: string, what: string) => new Option(`${flag} <duration>`, what).argParser(duration(flag))
  return [
    time(
      '--overdue-for',
      'count streams overdue or abandoned for longer than this: recovery needs a moment (default: 1m)',
    ),
    limit('--warn-overdue', 'warning at N overdue streams (default: 1)'),
    limit('--crit-overdue', 'critical at N overdue streams (default: 10)'),
    limit('--warn-failed', 'warning at N streams with an unacknowledged failure (default: 1)'),
    limit('--crit-failed', 'critical at N such streams (default: 10)'),
    age('--failed-since', 'count failures of this time (default: 24h)'),
    limit('--warn-abandoned', 'warning at N streams with a silent worker (default: 1)'),
    limit('--crit-abandoned', 'critical at N such streams (default: 10)'),
    age('--warn-waiting', 'warning if the oldest ready event is this old (default: 24h)'),
    age('--crit-waiting', 'critical if it is this old (default: never)'),
    time('--stuck-after', 'a lease held for longer is stuck (default: 10m)'),
    limit('--warn-stuck', 'warning at N stuck leases (default: 1)'),
    limit('--crit-stuck', 'critical at N stuck leases (default: 10)'),
    limit('--warn-unreadable', 'warning at N unreadable streams (default: 1)'),
    limit('--crit-unreadable', 'critical at N unreadable streams (default: never)'),
  ]
}

function watchdogFlags(): Option[] {
  return [
    new Option(
      '--warn-lag <duration>',
      'warning if the last sweep ended this long ago (default: three of its intervals and 10s)',
    ).argParser(duration('--warn-lag')),
    new Option(
      '--crit-lag <duration>',
      'critical if the last sweep ended this long ago (default: ten intervals and 1m)',
    ).argParser(duration('--crit-lag')),
    new Option('--require-watchdog', 'critical if there is no watchdog'),
  ]
}

/** Flags for subscriptions and inboxes. */
function queueFlags(): Option[] {
  const age = (flag: string, what: string) => new Option(`${flag} <duration>`, what).argParser(duration(flag))
  const limit = (flag: string, what: string) => new Option(`${flag} <n>`, what).argParser(count(flag, 1))
  return [
    age('--warn-subscription-lag', 'warning if a subscription is this far behind (default: 5m)'),
    age('--crit-subscription-lag', 'critical if it is this far behind (default: never)'),
    age('--warn-inbox-age', 'warning if the oldest record that is not drained is this old (default: 5m)'),
    age('--crit-inbox-age', 'critical if it is this old (default: 1h)'),
    limit('--warn-dead', 'warning at N dead letters of an inbox (default: 1)'),
    limit('--crit-dead', 'critical at N such letters (default: never)'),
  ]
}

const run: Run<CheckOptions> = async (...given) => (await import('./check/run.ts')).checkStore(...given)
