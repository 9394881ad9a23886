import { type Command, Option } from 'commander'
import { act, describe, helpFor, type Run, reads } from '../cli/command.ts'
import { listenAddress } from '../cli/listen-address.ts'
import type { Runtime } from '../cli/runtime.ts'
import { choice, count, duration, nonEmpty, pattern } from '../cli/values.ts'
import { DUE_ACTIONS } from '../stream/operations/operation.ts'
import type { WatchdogCommandOptions } from './watchdog/settings.ts'
import type { WatchdogStatusOptions } from './watchdog/status.ts'
import { hookCommand, shareValue } from './watchdog/values.ts'

const NOTES = `
What it aborts: events whose timeout has expired by the clock of the store, and the stream if the timeout of its root has.
It acts only on its own observations: two polls an interval apart must find the event overdue and, for a heartbeat timeout,
unchanged. An event with a heartbeat between the poll and the lease is spared. After an outage of the store it observes
again from the start. --once and --dry-run poll once and trust the clock alone.

On due: abort-event aborts the event and cancels everything below it, abort-stream aborts the whole stream, notify only
calls the hook --on-expired. An event can have its own setting (--on-due of init and event advance).

Circuit breaker: a pass that would abort more than 50 events, and more than --max-share of the open ones, aborts nothing.
The next pass decides again. To let a justified pass through: watchdog --once --max-share 100%.

Any number of watchdogs can run on the same store: an event is aborted only once. --shards N divides the streams among
watchdogs with the same N; a watchdog that dies is replaced within little more than 15 seconds.

--purge 90d removes what rm --older-than 90d --status completed selects (below --match), but no stream with a failure that
nobody has acknowledged: at most 1000 after a sweep, each only as it was listed. The audit log has every purge (log --audit).

Hooks: a path, or a JSON array such as '["notify","--team","x"]'; no shell. The transaction is JSON on standard input.
Webhooks are configured in the file of --config. The actor in journals is watchdog:user@host.

Exit: 0 stopped on request; 2 invalid settings; with --once 5 if the breaker opened, 7 if a change was not made; 143 if it
did not stop within 10 seconds.
`

export function register(parent: Command, runtime: Runtime, go: Run<WatchdogCommandOptions> = run): void {
  const command = parent
    .command('watchdog')
    .usage('[options]\n       leasectl watchdog status')
    .option('--once', 'run one pass and exit; trusts the clock alone')
    .option('--dry-run', 'show what one pass would do; changes nothing')
    .addOption(
      new Option('--interval <duration>', 'time between sweeps (default: 10s, on Azure 30s)').argParser(
        duration('--interval'),
      ),
    )
    .addOption(
      new Option(
        '--match <glob>',
        'glob over the whole name: * stops at a /, ** does not; also ? [a-z] [!a-z] {a,b}',
      ).argParser(pattern('--match')),
    )
    .addOption(
      new Option('--on-due <what>', `${DUE_ACTIONS.join(', ')} (default: abort-event)`).argParser(
        choice('--on-due', DUE_ACTIONS),
      ),
    )
    .addOption(
      new Option(
        '--max-per-pass <n>',
        'at most N events per pass, earliest due first, round-robin across streams (default: 1000)',
      ).argParser(count('--max-per-pass', 1)),
    )
    .addOption(
      new Option(
        '--max-share <share>',
        'circuit breaker: abort at most this share of the open events (default: 20%)',
      ).argParser(shareValue('--max-share')),
    )
    .addOption(
      new Option(
        '--purge <duration>',
        'also remove streams completed and unchanged for longer than this, such as 90d, with their history (default: never)',
      ).argParser(duration('--purge')),
    )
    .addOption(
      new Option('--shards <n>', 'divide the streams into N parts among several watchdogs').argParser(
        count('--shards', 1),
      ),
    )
    .addOption(
      new Option('--listen <address>', 'serve /livez, /readyz and /metrics: 127.0.0.1:9464').argParser(
        listenAddress('--listen'),
      ),
    )
    .addOption(
      new Option('--config <file>', 'settings in YAML, under the same names, and webhooks').argParser(
        nonEmpty('--config'),
      ),
    )
    .addOption(hook('--on-expired', 'run for each event that was aborted, or is due with notify'))
    .addOption(hook('--on-done', 'run for each stream that is done'))
    .addOption(hook('--on-failed', 'run for each transaction that aborted an event'))
    .addOption(hook('--on-compensated', 'run for each stream that has undone what it did'))
    .addOption(hook('--on-compensation-failed', 'run for each stream that could not undo what it did'))
  command.addHelpText('after', NOTES)
  describe(command, runtime, {
    summary: 'abort events and streams whose timeout has expired',
    examples: [
      ['watchdog', 'run until stopped'],
      ['watchdog --dry-run', 'show what it would abort now, and why'],
      ['watchdog --once', 'one pass, for cron'],
      ['watchdog --listen 127.0.0.1:9464 --on-failed /usr/local/bin/page', 'with metrics and a hook'],
      ['watchdog --purge 90d --dry-run', 'also show which old streams it would remove'],
      ['watchdog --shards 3', 'one of three that share the work'],
      ['watchdog status', 'the watchdogs of this store and their work'],
    ],
    formats: ['text', 'json'],
    kind: 'writes',
    effect: 'Writes: each abort is one change under the lease of its stream; --purge removes streams.',
  })
  act(command, runtime, 'writes', [], go)
  registerStatus(command, runtime)
  helpFor(command)
}

function hook(flag: string, what: string): Option {
  return new Option(`${flag} <command>`, what).argParser(hookCommand(flag))
}

const run: Run<WatchdogCommandOptions> = async (...given) => (await import('./watchdog/run.ts')).watchdog(...given)

export function registerStatus(parent: Command, runtime: Runtime, go: Run<WatchdogStatusOptions> = runStatus): void {
  const command = parent.command('status').option('-w, --watch', 'refresh in place, on a terminal')
  const description = {
    summary: 'show the watchdogs of this store, their work, and what is due next',
    examples: [
      ['watchdog status', 'the watchdogs of this store, wherever they run'],
      ['watchdog status -w', 'refreshed in place until Ctrl-C'],
      ['watchdog status -o json', 'for scripts'],
    ],
    formats: ['table', 'json'],
  } as const
  reads(command, runtime, description, [], go)
}

const runStatus: Run<WatchdogStatusOptions> = async (...given) =>
  (await import('./watchdog/status.ts')).watchdogStatus(...given)
