import { containerCreator } from '../../cli/create-container.ts'
import { readData } from '../../cli/data.ts'
import type { DataFlags } from '../../cli/data-flags.ts'
import type { ChangeFlags, GlobalOptions } from '../../cli/options.ts'
import { outcomeProblem } from '../../cli/outcome-problem.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { printChange } from '../../cli/print-change.ts'
import { type Problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor, transactOptions } from '../../cli/store.ts'
import { readStream } from '../../ops/read-stream.ts'
import { transact } from '../../ops/transact/transact.ts'
import type { StreamStore } from '../../store/store.ts'
import { ROOT_ID } from '../../stream/event-id.ts'
import type {
  ChangeResult,
  EventSpec,
  OnFailure,
  Operation,
  SettableAttributes,
} from '../../stream/operations/operation.ts'
import { stepSequence } from '../../stream/operations/plan.ts'
import { defined } from '../../util/defined.ts'
import { type FailureFlags, failureOf } from '../event/failure-flags.ts'
import { type AttributeFlags, attributesOf, type GateFlags, gateOf } from '../event/flags.ts'
import { readForks } from '../event/forks.ts'
import { readTemplate } from './read-template.ts'
import type { Template } from './template.ts'

export interface InitOptions extends GlobalOptions, ChangeFlags, AttributeFlags, GateFlags, FailureFlags, DataFlags {
  readonly stream: string
  readonly root?: string
  readonly fork?: readonly string[]
  readonly join?: string
  readonly steps?: readonly string[]
  readonly hold?: boolean
  readonly onFailure?: OnFailure
  /** Path of a template, `-` for standard input. */
  readonly from?: string
  readonly ifAbsent?: boolean
  /** Sets the attributes of the root of a stream that exists. */
  readonly update?: boolean
  readonly createContainer?: boolean
}

type Init = Extract<Operation, { op: 'init' }>

/**
 * Creates a stream. With `--if-absent` an existing stream counts as success, whatever its content; with `--update` too, the given
 * attributes of its root are set.
 */
export async function initStream(options: InitOptions, runtime: Runtime): Promise<Problem | undefined> {
  if (options.from === '-' && options.data?.kind === 'stdin') {
    throw new UsageError('--from - and --data - both read standard input', { hint: 'Give one of them as a file.' })
  }
  if (options.update && !options.ifAbsent) {
    throw new UsageError('--update needs --if-absent', {
      hint: 'Together they create the stream, or change what is there.',
    })
  }
  const output = await openOutput(options, runtime)
  const template = options.from === undefined ? {} : await readTemplate(options.from, runtime)
  const { data = template.data } = await readData(options, runtime)
  const forks = options.fork && (await readForks(options.fork, runtime))
  const operation = initOperation(options, { ...template, ...defined({ data }) }, forks, runtime.newId())
  const store = await openStoreFor(options, runtime, output)
  const commandId = options.commandId ?? runtime.newId()
  const how = transactOptions(options, commandId, 'init', runtime)
  const create = () => transact(store, options.stream, operation, how)
  const outcome = await containerCreator(store, options.createContainer)(create)
  if (outcome.kind === 'done') {
    return report({ created: true, result: outcome.result, commandId }, options, output, runtime)
  }
  if (options.ifAbsent && outcome.kind === 'refused' && outcome.refusal.code === 'exists') {
    return options.update
      ? update(rootAttributes(options, template), store, options, commandId, output, runtime)
      : report({ created: false, result: await existing(store, options.stream), commandId }, options, output, runtime)
  }
  const failed = outcomeProblem(options.stream, outcome, commandId, runtime)
  return failed.code === 'exists' ? { ...failed, hint: '--if-absent accepts an existing stream' } : failed
}

/** What became of the command. */
interface Reported {
  readonly created: boolean
  readonly result: ChangeResult
  readonly commandId: string
}

async function report(
  { created, result, commandId }: Reported,
  options: InitOptions,
  output: Output,
  runtime: Runtime,
): Promise<undefined> {
  const { stream, reason, update: updates } = options
  const word = created || result.outcome === 'already' ? 'created' : 'updated'
  const fields = updates ? { created } : undefined
  await printChange({ stream, event: undefined, result, commandId, reason }, { options, word, fields }, output, runtime)
}

/** Sets the attributes of the root. The id of the creation cannot be used again: a repetition would be another command. */
async function update(
  attributes: SettableAttributes,
  store: StreamStore,
  options: InitOptions,
  commandId: string,
  output: Output,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const { stream } = options
  if (Object.keys(attributes).length === 0) {
    return report({ created: false, result: await existing(store, stream), commandId }, options, output, runtime)
  }
  const how = transactOptions(options, `${commandId}:update`, 'init --update', runtime)
  const outcome = await transact(store, stream, { op: 'set', event: ROOT_ID, attributes }, how)
  if (outcome.kind !== 'done') return outcomeProblem(stream, outcome, commandId, runtime)
  return report({ created: false, result: outcome.result, commandId }, options, output, runtime)
}

/** The attributes of the root that are given. */
function rootAttributes(options: InitOptions, template: Template): SettableAttributes {
  const name = options.root ?? template.root
  return { ...attributesOf({ ...template, ...flagsOf(options) }), ...defined({ name }) }
}

/** Flags override the template. */
export function initOperation(
  options: InitOptions,
  template: Template,
  given: readonly EventSpec[] | undefined,
  born: string,
): Init {
  const attributes = attributesOf({ ...template, ...flagsOf(options) })
  const gate = gateOf(options)
  const failure = failureOf(options)
  const forks: readonly EventSpec[] = given?.map(spec => ({ ...gate, ...failure, ...spec })) ?? template.fork ?? []
  const steps =
    options.steps === undefined ? (template.steps ?? []) : stepSequence(options.steps, { ...gate, ...failure })
  if (Object.keys(gate).length > 0 && options.fork === undefined && options.steps === undefined)
    throw new UsageError('--wait-for, --delay, --at and --auto are for new events below the root', {
      hint: 'Name them with --fork or --steps, or write a template.',
    })
  if (options.onDue === 'open' && forks.length + steps.length > 0)
    throw new UsageError('--timeout and --on-due are for the whole stream, which cannot be opened', {
      hint: 'Write it to the event that waits: in a template, wait-for: NAME, timeout: 1d, on-due: open.',
    })
  const join = options.join === undefined ? template.join : { name: options.join }
  if (join !== undefined && forks.length === 0)
    throw new UsageError('--join needs --fork', { hint: `--fork A,B --join ${join.name}` })
  return {
    op: 'init',
    root: {
      ...attributes,
      ...defined({ data: template.data }),
      ...rootFailure(template),
      ...(forks.length + steps.length === 0 ? failure : {}),
      name: options.root ?? template.root ?? 'Start',
    },
    forks,
    ...(join === undefined ? {} : { join }),
    ...(steps.length === 0 ? {} : { steps }),
    hold: options.hold ?? template.hold ?? false,
    ...defined({ onFailure: options.onFailure ?? template.onFailure }),
    born,
  }
}

function rootFailure({ retry, attemptTimeout, undo }: Template): Partial<EventSpec> {
  return defined({ retry, attemptTimeout, undo })
}

function flagsOf({ topic, key, tag, ref, trackingId, timeout, onDue }: InitOptions) {
  const flags = { topic, key, tag, ref, trackingId, timeout, onDue }
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined))
}

/** The result that `--if-absent` reports for an existing stream. */
async function existing(store: StreamStore, name: string): Promise<ChangeResult> {
  const view = await readStream(store, name)
  return {
    outcome: 'already',
    version: view?.document.version ?? 0,
    changed: [],
    closed: [],
    joined: [],
    opened: [],
    added: [],
    done: view?.stream.done ?? false,
    duplicate: false,
  }
}
