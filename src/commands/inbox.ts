import { type Command, Option } from 'commander'
import { act, describe, describeGroup, parsed, type Run, reads } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { duration, lineCount, nonEmpty, requiredText } from '../cli/values.ts'
import { ALSO_NOTES, alsoFlags } from './inbox/also.ts'
import { registerDead } from './inbox/dead.ts'
import { registerDrain } from './inbox/drain.ts'
import type { PutInboxOptions } from './inbox/put.ts'
import { recordFlags } from './inbox/record-flags.ts'
import type { CreateOptions, InboxOptions, RemoveInboxOptions } from './inbox/run.ts'
import { registerServe } from './inbox/serve.ts'
import type { TailInboxOptions } from './inbox/tail.ts'
import { inboxName, partitionCount } from './inbox/values.ts'

const READS = 'Only reads: takes no lease.'

/** `inbox …`: requests are put at any rate, and drained to streams at the pace the store bears. */
export function register(parent: Command, runtime: Runtime): void {
  const group = parent.command('inbox').usage('COMMAND …')
  describeGroup(group, runtime, {
    summary: 'take requests at any rate and make streams of them',
    description:
      'An inbox is a durable log of records in the store of the streams. Putting is fast and never waits for the work ' +
      'behind it; a drain makes each record a stream, or a step of one, at the pace the store bears.',
    examples: [
      ['inbox create orders --partitions 8', 'create it; the number of partitions stays'],
      ['inbox put orders --id-field /orderId orders.ndjson', 'put the lines of a file'],
      ['inbox serve orders --listen 127.0.0.1:8080', 'take records over HTTP'],
      ["inbox drain orders --template order.yaml --name 'orders/{/id}'", 'make a stream of each record'],
      ['inbox dead ls orders', 'the records that could not be done'],
      ['inbox ls', 'the inboxes, and what waits in each'],
      ['inbox tail orders -f', 'watch records as they come'],
    ],
  })
  for (const registerIn of [
    registerCreate,
    registerPut,
    registerServe,
    registerDrain,
    registerDead,
    registerLs,
    registerShow,
    registerTail,
    registerRm,
  ])
    registerIn(group, runtime)
}

export function registerCreate(parent: Command, runtime: Runtime, go: Run<CreateOptions> = runCreate): void {
  const command = parent
    .command('create')
    .argument('<NAME>', 'name of the inbox: letters, digits, . _ -', inboxName)
    .addOption(
      new Option(
        '--partitions <n>',
        'parts that are drained side by side, 1 to 1024 (default: 8); fixed from then on',
      ).argParser(partitionCount),
    )
    .addOption(new Option('--by <actor>', 'who creates it (default: user@host)').argParser(requiredText('--by')))
    .option('--create-container', 'create the container if it is missing')
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: one small document.',
    summary: 'create an inbox; one that is there with as many partitions stays as it is',
    examples: [
      ['inbox create orders', 'with 8 partitions'],
      ['inbox create orders --partitions 32', 'for more drains side by side'],
    ],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'writes', ['name'], go)
}

const runCreate: Run<CreateOptions> = async (...given) => (await import('./inbox/run.ts')).createOne(...given)

const PUT_NOTES = `
A line is one record: JSON of up to 256 KiB. Its id makes it once: a record that is put again has no second effect. Records of
one key (default: the id) are drained in the order in which they were put.

A record is acknowledged when it is durable. Ctrl-C and a kill lose nothing that was acknowledged; what follows is put again, or
with --resume from where the last one stopped. A store that goes away is waited for, and nothing is read meanwhile.
${ALSO_NOTES}
Exit: 7 if lines were not records; the others are put. 9 if a file cannot be read.
`

export function registerPut(parent: Command, runtime: Runtime, go: Run<PutInboxOptions> = runPut): void {
  const command = recordFlags(
    parent
      .command('put')
      .argument('<NAME>', 'name of the inbox', inboxName)
      .argument('[FILE...]', 'files of NDJSON, a record a line; - or none: standard input'),
  )
    .addOption(
      new Option('--rejects <file>', 'write lines that are no records to this file').argParser(nonEmpty('--rejects')),
    )
    .addOption(
      new Option('--resume <file>', 'keep the progress in this file, and go on from there').argParser(
        nonEmpty('--resume'),
      ),
    )
  alsoFlags(command)
  command.addHelpText('after', PUT_NOTES)
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: appends records; takes no lease.',
    summary: 'put records: lines of JSON from files or standard input',
    examples: [
      ['inbox put orders orders.ndjson --id-field /orderId --key-field /customer', 'the lines of a file'],
      ['inbox put orders < orders.ndjson', 'of standard input; ids are in /id'],
      ['inbox put orders big.ndjson --resume big.progress --rejects bad.ndjson', 'that can go on after a kill'],
      [
        'inbox put orders orders.ndjson --also azure:b/inbox --prefer 15s',
        'into two regions, of which one may be away',
      ],
    ],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'writes', ['name', 'files'], go)
}

const runPut: Run<PutInboxOptions> = async (...given) => (await import('./inbox/put.ts')).putLines(...given)

export function registerLs(parent: Command, runtime: Runtime, go: Run<InboxOptions> = runLs): void {
  const command = parent.command('ls').alias('list')
  const description = {
    summary: 'list inboxes: partitions, drains, what waits and for how long',
    examples: [
      ['inbox ls', 'all of the store'],
      ['inbox ls -o json', 'for scripts'],
    ],
    formats: ['table', 'name', 'json', 'ndjson', 'csv'],
    effect: READS,
  } as const
  reads(command, runtime, description, [], go)
}

const runLs: Run<InboxOptions> = async (...given) => (await import('./inbox/run.ts')).listAll(...given)

export function registerShow(
  parent: Command,
  runtime: Runtime,
  go: Run<InboxOptions & { readonly name: string }> = runShow,
): void {
  const command = parent.command('show').argument('<NAME>', 'name of the inbox', inboxName)
  const description = {
    summary: 'show the partitions of an inbox: who drains each, its checkpoint, what waits',
    examples: [
      ['inbox show orders', 'its partitions'],
      ['inbox show orders -o json', 'for scripts'],
    ],
    formats: ['table', 'json'],
    effect: READS,
  } as const
  reads(command, runtime, description, ['name'], go)
}

const runShow: Run<InboxOptions & { readonly name: string }> = async (...given) =>
  (await import('./inbox/run.ts')).showOne(...given)

export function registerTail(parent: Command, runtime: Runtime, go: Run<TailInboxOptions> = runTail): void {
  const command = parent
    .command('tail')
    .argument('<NAME>', 'name of the inbox', inboxName)
    .addOption(new Option('-n, --lines <n>', 'last N records, or all (default: 10)').argParser(lineCount))
    .option('-f, --follow', 'follow: also print records as they come')
    .addOption(
      new Option('--interval <duration>', 'time between polls with -f (default: 1s)').argParser(duration('--interval')),
    )
  const description = {
    summary: 'print the last records of an inbox, and with -f new ones as they come',
    examples: [
      ['inbox tail orders', 'the last 10'],
      ['inbox tail orders -f', 'and new ones, until Ctrl-C'],
      ['inbox tail orders -n all -o ndjson', 'all that is kept, for a program'],
    ],
    formats: ['text', 'ndjson'],
    effect: READS,
  } as const
  reads(command, runtime, description, ['name'], go)
}

const runTail: Run<TailInboxOptions> = async (...given) => (await import('./inbox/tail.ts')).tailInbox(...given)

export function registerRm(parent: Command, runtime: Runtime, go: Run<RemoveInboxOptions> = runRm): void {
  const command = parent
    .command('rm')
    .alias('delete')
    .argument('<NAME>', 'name of the inbox', inboxName)
    .option('--force', 'also with records that are not drained')
    .option('--yes', 'do not ask')
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: removes its records, dead letters and checkpoints. Streams that were drained stay.',
    summary: 'remove an inbox with its records; always asks',
    examples: [
      ['inbox rm orders', 'ask, then remove it; refused while records wait'],
      ['inbox rm orders --force', 'also with records that are not drained'],
    ],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'writes', own => parsed<RemoveInboxOptions>(own, ['name']), go)
}

const runRm: Run<RemoveInboxOptions> = async (...given) => (await import('./inbox/run.ts')).removeOne(...given)
