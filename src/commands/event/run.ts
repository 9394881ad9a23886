import type { ChangeFlags, GlobalOptions } from '../../cli/options.ts'
import { outcomeProblem, replacedProblem } from '../../cli/outcome-problem.ts'
import { openOutput } from '../../cli/output.ts'
import { printChange } from '../../cli/print-change.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor, transactOptions } from '../../cli/store.ts'
import type { Changed } from '../../formats/change.ts'
import { type TransactOptions, type TransactOutcome, transact } from '../../ops/transact/transact.ts'
import type { StreamStore } from '../../store/store.ts'
import type { Operation } from '../../stream/operations/operation.ts'

type Send = (store: StreamStore, stream: string, options: TransactOptions) => Promise<TransactOutcome>

export interface OneChange {
  readonly stream: string
  readonly operation: Operation
  readonly options: GlobalOptions & ChangeFlags
  /** Sends the operation, with what it needs beside it. */
  readonly send?: Send
  /** The change applies only to this incarnation of the stream (`lc:born`). */
  readonly life?: string | undefined
  /** The past participle in the output: `completed`. */
  readonly word: string
  /** Shown to other users while the lease is held: `event complete 01.02.00`. */
  readonly purpose: string
  /** Printed instead of everything else with `-q`. */
  readonly quietText?: (changed: Changed) => string
}

/** Applies one operation to one stream and prints the outcome. */
export async function changeOne(change: OneChange, runtime: Runtime): Promise<Problem | undefined> {
  const { stream, operation, options, life } = change
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const commandId = options.commandId ?? runtime.newId()
  const outcome = await (change.send ?? sendOperation(operation))(store, stream, {
    ...transactOptions(options, commandId, change.purpose, runtime),
    ...(life === undefined ? {} : { ifBorn: life }),
  })
  if (isAnotherLife(change, outcome)) return { commandId, ...replacedProblem(stream) }
  if (outcome.kind !== 'done') return outcomeProblem(stream, outcome, commandId, runtime)
  const event = 'event' in operation ? operation.event : undefined
  const changed = { stream, event, result: outcome.result, commandId, reason: options.reason }
  await printChange(changed, change, output, runtime)
  return undefined
}

function sendOperation(operation: Operation): Send {
  return (store, stream, options) => transact(store, stream, operation, options)
}

/** True if the stream was replaced: without `--if-version`, only the incarnation can differ. */
function isAnotherLife({ life, options }: OneChange, outcome: TransactOutcome): boolean {
  const isChanged = outcome.kind === 'refused' && outcome.refusal.code === 'changed'
  return life !== undefined && options.ifVersion === undefined && isChanged
}
