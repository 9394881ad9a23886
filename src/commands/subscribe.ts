import { type Command, Option } from 'commander'
import { act, describe, parsed, type Run } from '../cli/command.ts'
import { type PartitionFlags, partitionFlags, partitionIn } from '../cli/partition.ts'
import { UsageError } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { added, choice, choices, concurrency, count, duration, names, pattern, requiredText } from '../cli/values.ts'
import { JOURNAL_OPERATIONS } from '../stream/journal/operations.ts'
import { defined } from '../util/defined.ts'
import { programIn } from './exec.ts'
import type { SubscribeOptions } from './subscribe/options.ts'
import { startPoint } from './subscribe/start.ts'
import { subscriptionName } from './subscription/name.ts'

const NOTES = `
The command runs once for each transaction, in order for each stream, streams side by side. It gets the transaction as JSON on
stdin, as tail -o ndjson prints it. Exit code 0 means handled: the next transaction of the stream follows. 75 (EX_TEMPFAIL)
puts it off: the stream waits, others go on. After any other code it is tried again, --tries times within a quarter of an
hour; then the stream is parked, with the last lines of stderr as the reason, until subscription retry or skip.

The command gets LEASECTL_STORE, LEASECTL_SUBSCRIPTION, LEASECTL_STREAM, LEASECTL_BORN, LEASECTL_VERSION, LEASECTL_OP,
LEASECTL_COMMAND_ID, LEASECTL_DONE (yes with the transaction that ends the stream), LEASECTL_ATTEMPT, LEASECTL_DELIVERY_ID,
which is the same each time the transaction is delivered, and LEASECTL_COMMANDS, a file to which it can append commands for
streams, one JSON object a line, which are executed once after it has exited with 0:

  {"do":"init","stream":"invoices/7","root":"Invoice"}                      signal cancel abort retry complete fail set append
  {"do":"signal","stream":"orders/7","name":"paid","ifRefused":"ignore"}    more than one for a stream: give each a "key"

A transaction is delivered again only if the process dies after the command ended and before the position was written, at most
a second or 100 transactions. Any number of processes can run a subscription: they share its --shards, and the rest takes over
the shards of a dead one within 15 s. All of them need the same filters. Other names are other groups: each sees everything.

The stdout and stderr of the command pass through. What became of each transaction goes to stderr; with -o ndjson one line each
goes to stdout, and the stdout of the command goes to stderr. SIGTERM and SIGINT drain: running commands finish. A second
signal ends them at once; their transactions are delivered again.

Exit: 0 drained, 126 the command is not executable, 127 not found, 2 the subscription exists with other filters.
`

export function register(parent: Command, runtime: Runtime, go: Run<SubscribeOptions> = run): void {
  const command = parent
    .command('subscribe')
    .usage('--as NAME [options] -- COMMAND…')
    .argument('[COMMAND...]', 'the command to run for each transaction, after --')
    .addOption(
      new Option('--as <name>', 'name of the subscription: its position is kept under it (required)').argParser(
        subscriptionName('--as'),
      ),
    )
    .addOption(
      new Option(
        '--match <glob>',
        'glob over the whole name: * stops at a /, ** does not; also ? [a-z] [!a-z] {a,b}',
      ).argParser(added(pattern('--match'))),
    )
    .addOption(
      new Option('--not-match <glob>', 'glob the name must not match').argParser(added(pattern('--not-match'))),
    )
    .addOption(
      new Option(
        '--op <operations>',
        `only these operations, separated by commas: ${JOURNAL_OPERATIONS.join(', ')}`,
      ).argParser(choices('--op', JOURNAL_OPERATIONS)),
    )
    .addOption(
      new Option('--name <names>', 'only transactions that change an event of these names: A,B').argParser(
        names('--name'),
      ),
    )
    .option('--done-only', 'only the transaction with which a stream ends')
    .addOption(
      new Option(
        '--from <time>',
        'where a new subscription begins: start, now, 2h, a date and time (default: now)',
      ).argParser(startPoint),
    )
    .addOption(new Option('--concurrency <n>', 'streams at a time (default: 8)').argParser(concurrency))
    .addOption(
      new Option('--tries <n>', 'how often a transaction is tried before its stream is parked (default: 8)').argParser(
        count('--tries', 1),
      ),
    )
    .addOption(
      new Option(
        '--on-poison <what>',
        'after the last try: park the stream, or skip the transaction and report it (default: park)',
      ).argParser(choice('--on-poison', ['park', 'skip'])),
    )
    .addOption(
      new Option('--interval <duration>', 'time between polls (default: 1s)').argParser(duration('--interval')),
    )
    .addOption(
      new Option(
        '--shards <n>',
        'number of shards of a new subscription, which its processes share (default: 8)',
      ).argParser(count('--shards', 1)),
    )
    .addOption(
      new Option('--timeout <duration>', 'how long the command may run for one transaction (default: 5m)').argParser(
        duration('--timeout'),
      ),
    )
    .addOption(
      new Option('--grace <duration>', 'time from SIGTERM to SIGKILL (default: 10s)').argParser(
        duration('--grace', { zero: true }),
      ),
    )
    .addOption(new Option('--by <actor>', 'who makes the changes (default: user@host)').argParser(requiredText('--by')))
    .addOption(
      new Option(
        '--lease-wait <duration>',
        'how long a command waits for a lease held by another (default: 10s)',
      ).argParser(duration('--lease-wait', { zero: true })),
    )
  partitionFlags(command)
  command.addHelpText('after', NOTES)
  describe(command, runtime, {
    summary: 'run a command for every transaction of streams, in order, from where it stopped',
    examples: [
      [
        "subscribe --as read-model --match 'orders/**' --from start -- node project.js",
        'a read model, from the beginning',
      ],
      ["subscribe --as billing --match 'orders/**' --done-only -- ./bill.sh", 'when an order ends'],
      ['subscribe --as audit --op cancel,abort -o ndjson -- ./audit.py', 'only these operations'],
      ['subscription ls', 'lag, rate, what is parked, who runs it'],
    ],
    formats: ['text', 'ndjson'],
    kind: 'writes',
    effect: 'Writes: its position, below .leasectl/, and the commands of the handler.',
  })
  act(command, runtime, 'writes', () => optionsIn(command, runtime), go)
}

function optionsIn(command: Command, runtime: Runtime): SubscribeOptions {
  const {
    partitionFromHostname,
    partitionCount,
    partition: given,
    ...options
  } = parsed<SubscribeOptions & PartitionFlags>(command, [])
  const usage = 'subscribe --as NAME -- COMMAND …'
  if (options.as === undefined) throw new UsageError('--as is missing: the name of the subscription', { hint: usage })
  const partition = partitionIn(defined({ partition: given, partitionFromHostname, partitionCount }), runtime)
  const program = programIn(command.processedArgs[0] ?? [], runtime, usage)
  return { ...options, ...defined({ partition }), command: program }
}

const run: Run<SubscribeOptions> = async (...given) => (await import('./subscribe/run.ts')).subscribe(...given)
