import { type Command, Option } from 'commander'
import { act, describe, describeGroup, parsed, type Run, reads } from '../../cli/command.ts'
import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { requiredText } from '../../cli/values.ts'
import type { DeadOptions, SettleDeadOptions, SomeDeadOptions } from './drain/options.ts'
import { inboxArgument } from './drain.ts'

const READS = 'Only reads: takes no lease.'
const WHICH = 'names of dead letters, or ids of records'

/** `inbox dead …`: records that could not be done. */
export function registerDead(parent: Command, runtime: Runtime): void {
  const group = parent.command('dead').usage('COMMAND …')
  describeGroup(group, runtime, {
    summary: 'records that a drain could not do: ls, show, retry, drop',
    description:
      'What can never be done becomes a dead letter, with the reason, and the drain goes on: a line that is not a record, a ' +
      'value that is missing, a stream that is there from another record.',
    examples: [
      ['inbox dead ls orders', 'what could not be done, and why'],
      ['inbox dead show orders 4711', 'the record'],
      ['inbox dead retry orders --all', 'once the reason is gone: put them into the inbox again'],
      ['inbox dead drop orders 4711', 'forget it'],
    ],
  })
  for (const registerIn of [registerLs, registerShow]) registerIn(group, runtime)
  registerRetry(group, runtime)
  registerDrop(group, runtime)
}

function registerLs(parent: Command, runtime: Runtime): void {
  const command = inboxArgument(parent.command('ls').alias('list'))
  const description = {
    summary: 'list the dead letters of an inbox, the oldest first',
    examples: [
      ['inbox dead ls orders', 'all'],
      ['inbox dead ls orders -o ndjson', 'for scripts: one line each, with the record'],
    ],
    formats: ['table', 'name', 'json', 'ndjson', 'csv'],
    effect: READS,
  } as const
  reads(command, runtime, description, ['inbox'], runLs)
}

const runLs: Run<DeadOptions> = async (...given) => (await import('./drain/dead.ts')).listDead(...given)

function registerShow(parent: Command, runtime: Runtime): void {
  const command = inboxArgument(parent.command('show')).argument('<LETTER...>', WHICH)
  const description = {
    summary: 'show dead letters: the reason, and the record as it was put',
    examples: [
      ['inbox dead show orders 4711', 'by the id of the record'],
      ['inbox dead show orders 5d1c9a0b33e1 -o json', 'by the name of the letter'],
    ],
    formats: ['text', 'json'],
    effect: READS,
  } as const
  reads(command, runtime, description, ['inbox', 'letters'], runShow)
}

const runShow: Run<SomeDeadOptions> = async (...given) => (await import('./drain/dead.ts')).showDead(...given)

function registerRetry(parent: Command, runtime: Runtime): void {
  settling(parent, runtime, runRetry, {
    name: 'retry',
    effect: 'Writes: puts each record into the inbox again, behind all others; still once in effect.',
    summary: 'put dead letters into the inbox again',
    examples: [
      ['inbox dead retry orders 4711', 'one'],
      ['inbox dead retry orders --all', 'all'],
    ],
  })
}

const runRetry: Run<SettleDeadOptions> = async (...given) => (await import('./drain/dead.ts')).retryDead(...given)

function registerDrop(parent: Command, runtime: Runtime): void {
  settling(parent, runtime, runDrop, {
    name: 'drop',
    effect: 'Writes: forgets each record. This cannot be undone.',
    summary: 'forget dead letters',
    examples: [
      ['inbox dead drop orders 4711', 'one'],
      ['inbox dead drop orders --all', 'all'],
    ],
  })
}

const runDrop: Run<SettleDeadOptions> = async (...given) => (await import('./drain/dead.ts')).dropDead(...given)

function settling(
  parent: Command,
  runtime: Runtime,
  go: Run<SettleDeadOptions>,
  {
    name,
    ...description
  }: {
    readonly name: string
    readonly effect: string
    readonly summary: string
    readonly examples: readonly (readonly [string, string])[]
  },
): void {
  const command = inboxArgument(parent.command(name))
    .argument('[LETTER...]', WHICH)
    .option('--all', 'all dead letters of the inbox')
    .addOption(new Option('--by <actor>', 'who makes the change (default: user@host)').argParser(requiredText('--by')))
  describe(command, runtime, { ...description, kind: 'writes', formats: ['text', 'json'] })
  act(command, runtime, 'writes', settleOptions, go)
}

function settleOptions(command: Command): SettleDeadOptions {
  const options = parsed<SettleDeadOptions>(command, ['inbox', 'letters'])
  if (options.letters.length > 0 === (options.all === true)) {
    throw new UsageError('name dead letters, or give --all', { hint: 'leasectl inbox dead ls NAME lists them' })
  }
  return options
}
