import { type Command, Option } from 'commander'
import { act, describe, type Run, reads } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { choice, count, duration, nonEmpty, pattern } from '../cli/values.ts'
import { ON_DUE } from '../stream/operations/operation.ts'
import type { WatchdogCommandOptions } from './watchdog/settings.ts'
import type { WatchdogStatusOptions } from './watchdog/status.ts'
import { hookCommand, listenAddress, shareValue } from './watchdog/values.ts'

const NOTES = `
What it ends: events whose timeout has ended, by the clock of the store, and the stream where the root's has. It judges by
what it has seen itself: two looks an interval apart that found the event due and, where the limit is one for signs of
life, unchanged. What shows life between look and lease is spared. After an outage of the store it sees anew.
--once and --dry-run have one look and trust the clock alone.

On due: abort-event ends the event and what is below it, abort-stream the whole stream, notify only tells the hook
--on-expired. An event may have a word of its own (--on-due of init and event advance).

The breaker: a pass that would end more than 50 events, and more than --max-share of the open ones, ends nothing. The next
pass is judged anew; once you know that it is right: watchdog --once --max-share 100%.

Any number of watchdogs may run on the same store: what one has ended no other ends again. --shards N divides the streams
among those that say the same N; one that dies is replaced within 15 seconds.

Hooks: a path, or a JSON array such as '["notify","--team","x"]'; no shell. The transaction is JSON on standard input.
Webhooks stand in the file of --config. In journals its actor is watchdog:user@host.

Exit: 0 it was asked to stop and did; 2 settings that cannot be; with --once 5 the breaker stopped it, 7 something was not
done; 143 it had to be stopped after 10 seconds.
`

export function register(parent: Command, runtime: Runtime, go: Run<WatchdogCommandOptions> = run): void {
  const command = parent
    .command('watchdog')
    .usage('[options]\n       leasectl watchdog status')
    .option('--once', 'one pass, then the end; the clock alone decides')
    .option('--dry-run', 'what one pass would do; changes nothing')
    .addOption(
      new Option('--interval <duration>', 'from sweep to sweep (default: 10s, on Azure 30s)').argParser(
        duration('--interval'),
      ),
    )
    .addOption(
      new Option(
        '--match <glob>',
        'names like this: * stays within a /, ** does not; also ? [a-z] [!a-z] {a,b}',
      ).argParser(pattern('--match')),
    )
    .addOption(
      new Option('--on-due <what>', `${ON_DUE.join(', ')} (default: abort-event)`).argParser(
        choice('--on-due', ON_DUE),
      ),
    )
    .addOption(
      new Option(
        '--max-per-pass <n>',
        'does at most so much in a pass, the soonest due first, one of each stream before a second (default: 1000)',
      ).argParser(count('--max-per-pass', 1)),
    )
    .addOption(
      new Option(
        '--max-share <share>',
        'the breaker: ends at most this share of the open events (default: 20%)',
      ).argParser(shareValue('--max-share')),
    )
    .addOption(
      new Option('--shards <n>', 'shares the streams with other watchdogs, in so many parts').argParser(
        count('--shards', 1),
      ),
    )
    .addOption(
      new Option('--listen <address>', 'answers /livez, /readyz and /metrics: 127.0.0.1:9464').argParser(
        listenAddress('--listen'),
      ),
    )
    .addOption(
      new Option('--config <file>', 'settings in YAML, under the same names; webhooks too').argParser(
        nonEmpty('--config'),
      ),
    )
    .addOption(hook('--on-expired', 'called for each event that was ended, or is due with notify'))
    .addOption(hook('--on-done', 'called for each stream that is done'))
    .addOption(hook('--on-failed', 'called for each transaction that aborted an event'))
  command.addHelpText('after', NOTES)
  describe(command, runtime, {
    summary: 'ends what has outlived its time, and never anything else',
    examples: [
      ['watchdog', 'runs until it is stopped'],
      ['watchdog --dry-run', 'what it would end now, and why'],
      ['watchdog --once', 'one pass, for cron'],
      ['watchdog --listen 127.0.0.1:9464 --on-failed /usr/local/bin/page', 'with metrics and a hook'],
      ['watchdog --shards 3', 'one of several that share the work'],
      ['watchdog status', 'who watches here, and what they did'],
    ],
    formats: ['text', 'json'],
    kind: 'writes',
    effect: 'Writes: each end is one change under the lease of its stream.',
  })
  act(command, runtime, 'writes', [], go)
  registerStatus(command, runtime)
}

function hook(flag: string, what: string): Option {
  return new Option(`${flag} <command>`, what).argParser(hookCommand(flag))
}

const run: Run<WatchdogCommandOptions> = async (...given) => (await import('./watchdog/run.ts')).watchdog(...given)

export function registerStatus(parent: Command, runtime: Runtime, go: Run<WatchdogStatusOptions> = runStatus): void {
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
  reads(command, runtime, description, [], go)
}

const runStatus: Run<WatchdogStatusOptions> = async (...given) =>
  (await import('./watchdog/status.ts')).watchdogStatus(...given)
