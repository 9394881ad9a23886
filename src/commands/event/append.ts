import { type Command, Option } from 'commander'
import { type Run, writes } from '../../cli/command.ts'
import { type DataFlags, dataFlags } from '../../cli/data-flags.ts'
import type { ChangeFlags, GlobalOptions } from '../../cli/options.ts'
import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { count, requiredText, streamName } from '../../cli/values.ts'
import { defined } from '../../util/defined.ts'
import { type FailureFlags, failureFlags, failureOf } from './failure-flags.ts'
import { type AttributeFlags, attributeFlags, attributesOf, type GateFlags, gateFlags, gateOf } from './flags.ts'

export interface AppendCommandOptions
  extends GlobalOptions,
    ChangeFlags,
    AttributeFlags,
    Omit<GateFlags, 'after'>,
    FailureFlags,
    DataFlags {
  readonly stream: string
  readonly name?: string
  readonly create?: boolean
  readonly createContainer?: boolean
  readonly seq?: number
  readonly last?: boolean
  readonly keep?: number
  readonly root?: string
}

const NOTES = `
What is appended to one session is worked in order, one step at a time; any number of sessions go on side by side. The
step begins when the one before is completed; if that fails, the session is blocked until retry -e ID or event skip.
--command-id is required: the same id again changes nothing, whoever sends it from wherever. --create makes the session
if the stream is absent. Each change writes the whole document: with --keep 100 a session of any length stays small. What is dropped is gone
from the history too, with its command ids: a message that may come again later than 100 steps needs a higher number. A step
that failed, even if it was skipped, or that another waits for, is never dropped. With --seq step 7 is done after step 6 in whatever order they come; until 6 has come the session is
blocked. All steps of a session have numbers, or none. A session ends with the step of --last, or by leasectl signal STREAM end, once all its steps have ended.
`

/** `event append STREAM`: a step of a session. */
export function registerAppend(parent: Command, runtime: Runtime, go: Run<AppendCommandOptions> = runAppend): void {
  const command = parent
    .command('append')
    .argument('<STREAM>', 'name of the stream', streamName)
    .addOption(new Option('--name <name>', 'name of the step (required)').argParser(requiredText('--name')))
    .option('--create', 'make the session if the stream is absent')
    .option(
      '--create-container',
      'with --create: create the container if it is missing (automatic on azurite, and for a file)',
    )
    .addOption(
      new Option('--root <name>', 'with --create: name of the root of a new session (default: Session)').argParser(
        requiredText('--root'),
      ),
    )
    .addOption(
      new Option(
        '--keep <n>',
        'drop the oldest completed steps but N, with their history: a long session stays small',
      ).argParser(count('--keep', 1)),
    )
    .addOption(
      new Option(
        '--seq <n>',
        'number of the step, from 1: it is done after the one before it, even if that comes later',
      ).argParser(count('--seq', 1)),
    )
    .option('--last', 'no more steps follow: the session ends after this one')
  const description = {
    summary: 'append a step to a session, a stream whose steps are done one by one in their order',
    examples: [
      ['event append cars/7 --name Move --data 3,4 --command-id msg-18 --create', 'make the session if it is absent'],
      ['event append cars/7 --name Move --data 4,4 --command-id msg-20 --keep 100', 'and forget the oldest steps'],
      ['event append cars/7 --name Park --command-id msg-19 --last', 'the last step: then the session ends'],
      ['signal cars/7 end', 'let it end without another step'],
    ],
  } as const
  failureFlags(gateFlags(dataFlags(attributeFlags(command), 'the step')))
  writes(command, runtime, description, ['stream'], go)
  command.addHelpText('after', NOTES)
}

const runAppend: Run<AppendCommandOptions> = async (options, runtime) => {
  const { stream, name, create, createContainer, seq, last, keep, root, commandId } = options
  if (name === undefined) throw new UsageError('append needs --name, the name of the step')
  if (commandId === undefined) {
    throw new UsageError('append needs --command-id', {
      hint: 'Give the id of the message or order: with it a repetition appends the step once.',
    })
  }
  if (root !== undefined && !create) throw new UsageError('--root needs --create')
  if (createContainer && !create) throw new UsageError('--create-container needs --create')
  const [{ containerCreator }, { changeOne }, { appendStep }, { readData }] = await Promise.all([
    import('../../cli/create-container.ts'),
    import('./run.ts'),
    import('../../ops/transact/append.ts'),
    import('../../cli/data.ts'),
  ])
  const { data } = await readData(defined({ data: options.data, dataType: options.dataType }), runtime)
  const step = { ...attributesOf(options), ...gateOf(options), ...failureOf(options), ...defined({ data }), name }
  const appended = {
    step,
    ...(last ? { last } : {}),
    ...defined({ seq, keep }),
    ...(create ? { create: root ?? 'Session' } : {}),
  }
  const change = {
    ...{ stream, options, word: `appended ${name}`, purpose: 'event append' },
    operation: { op: 'append', step, ...defined({ seq }) } as const,
    send: (store, target, how) => {
      const append = () => appendStep(store, target, appended, how)
      return create ? containerCreator(store, createContainer)(append) : append()
    },
  } satisfies Parameters<typeof changeOne>[0]
  return changeOne(change, runtime)
}
