import { type Command, Option } from 'commander'
import { act, describe, parsed, type Run } from '../../cli/command.ts'
import { everyWorkerChange } from '../../cli/options.ts'
import { partitionFlags } from '../../cli/partition.ts'
import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { count, duration, inFlag, nonEmpty, requiredText } from '../../cli/values.ts'
import { checkFolderName } from '../../store/names.ts'
import type { DrainCommandOptions } from './drain/options.ts'

const NOTES = `
Each record becomes a stream (--template, as of init --from) or a step of a session (--append, as of event append --create), and its
data the input of the root or step. In --name, --append and the texts of the template, {/id} {/key} {/at} {/seq} and
{/data/customer} are values of the record.

Once in effect: the command id is inbox:NAME:ID, so a record that is there twice, or is seen again after a crash, is a
duplicate. Records of one key are done in the order in which they were put, others side by side. What can never be done (not
a record, a value that is missing, a name that another stream has) becomes a dead letter: inbox dead ls NAME. With
--strict-order the later records of its key wait behind it until inbox dead retry or inbox dead drop.

How far a partition is drained is written every 1000 records or second. Any number of drains share the partitions of an inbox by
leases; those of a drain that died go on in others within 15 s. A store that refuses or slows down halves the number of
records at a time; meanwhile the inbox takes what comes. All drains of an inbox do the same with its records: another
template, name or --strict-order needs --force.

Dead letters and troubles go to stderr; with -o ndjson one line for each record goes to stdout. SIGTERM and SIGINT end it after the records
being worked on. Exit: 0; --once 7 if there were dead letters.
`

const PARTS = 'only the partitions of part I of N of the inbox, from 0: 0/4 to 3/4; N divides their number'

/** `inbox drain NAME`: makes streams, or steps, of records. */
export function registerDrain(parent: Command, runtime: Runtime, go: Run<DrainCommandOptions> = run): void {
  const command = partitionFlags(inboxArgument(parent.command('drain')), PARTS)
    .addOption(
      new Option('--template <file>', 'make a stream of each record, from a template in YAML or XML').argParser(
        nonEmpty('--template'),
      ),
    )
    .addOption(
      new Option('--append <step>', 'append each record as a step of this name to a session').argParser(
        requiredText('--append'),
      ),
    )
    .addOption(
      new Option('--name <name>', "name of the stream: 'orders/{/id}', 'cars/{/key}' (required)").argParser(
        requiredText('--name'),
      ),
    )
    .addOption(
      new Option(
        '--inbox-store <store>',
        'store of the inbox, if it is another than that of the streams: an address or a context',
      ).argParser(nonEmpty('--inbox-store')),
    )
    .addOption(
      new Option('--concurrency <n>', 'records at a time, at most, 1 to 1024 (default: 256)').argParser(concurrency),
    )
    .addOption(new Option('--rate <n>', 'records a second, at most').argParser(count('--rate', 1)))
    .addOption(
      new Option('--checkpoint-every <n>', 'write a checkpoint after N records (default: 1000)').argParser(
        count('--checkpoint-every', 1),
      ),
    )
    .addOption(
      new Option('--checkpoint-interval <duration>', 'and at the latest after this time (default: 1s)').argParser(
        duration('--checkpoint-interval'),
      ),
    )
    .addOption(
      new Option('--keep <duration>', 'remove drained records that are older: 7d (default: keep all)').argParser(
        duration('--keep', { zero: true }),
      ),
    )
    .option(
      '--strict-order',
      'let a dead letter block its key: later records of the key wait until it is retried or dropped',
    )
    .option('--once', 'drain what is there and exit')
    .option('--force', 'replace what the drains of this inbox have done so far')
  command.addHelpText('after', NOTES)
  everyWorkerChange(command, drainOption)
  describe(command, runtime, {
    summary: 'make a stream, or a step of a session, of each record of an inbox',
    examples: [
      ["inbox drain orders --template order.yaml --name 'orders/{/id}'", 'a stream for each record, until stopped'],
      ["inbox drain moves --append Move --name 'cars/{/key}'", 'a step of the session of its key'],
      ["inbox drain orders --template order.yaml --name 'orders/{/id}' --once", 'what is there, then end'],
      [
        "inbox drain orders --template order.yaml --name 'orders/{/id}' --inbox-store azure:b/inbox",
        'from an inbox in another store',
      ],
    ],
    formats: ['text', 'ndjson'],
    kind: 'writes',
    effect: 'Writes: each record changes a stream; checkpoints under the lease of each partition.',
  })
  act(command, runtime, 'writes', optionsIn, go)
}

/** A record whose stream is leased gives way to others, and is tried again. */
function drainOption(option: Option): Option {
  if (option.long !== '--lease-wait') return option
  const what = 'how long to wait for a lease held by another, before the record is tried again (default: 250ms)'
  const own = new Option(option.flags, what).helpGroup(option.helpGroupHeading ?? '')
  return Object.assign(own, { parseArg: option.parseArg })
}

/** Adds the name of the inbox. */
export function inboxArgument(command: Command): Command {
  return command.argument('<NAME>', 'name of the inbox', text => {
    inFlag('NAME', () => checkFolderName(text, 'an inbox'))
    return text
  })
}

const MOST_AT_ONCE = 1_024

function concurrency(text: string): number {
  const value = count('--concurrency', 1)(text)
  if (value <= MOST_AT_ONCE) return value
  throw new UsageError(`--concurrency ${value} is too many`, { hint: `a whole number from 1 to ${MOST_AT_ONCE}` })
}

function optionsIn(command: Command): DrainCommandOptions {
  const options = parsed<DrainCommandOptions>(command, ['inbox'])
  if ((options.template === undefined) === (options.append === undefined)) {
    throw new UsageError('inbox drain takes --template or --append: what becomes of a record', {
      hint: "--template order.yaml --name 'orders/{/id}'",
    })
  }
  if (options.name === undefined) {
    throw new UsageError('--name is missing: the name of the stream of a record', { hint: "--name 'orders/{/id}'" })
  }
  return options
}

const run: Run<DrainCommandOptions> = async (...given) => (await import('./drain/run.ts')).drainInbox(...given)
