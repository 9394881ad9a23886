import { transact } from '../../ops/transact.ts'
import type { EventStore } from '../../store/store.ts'
import { visibleText } from '../../stream/texts.ts'
import { errorProblem, interruptedProblem } from '../error-problem.ts'
import { outcomeProblem } from '../outcome-problem.ts'
import { openOutput } from '../output.ts'
import type { Problem } from '../problem.ts'
import type { Runtime } from '../runtime.ts'
import { openStoreFor } from '../store.ts'
import { type Batch, batchProblem, printJson, printResult, problemOf, type Result } from './batch-result.ts'
import { transactOptions } from './request.ts'
import { lookUp, missingProblemOf, type Target, targetCommandId, targetsOf } from './targets.ts'

/** The same operation on one or several streams or events, one transaction each, after all of them were found. */
export async function changeBatch(batch: Batch, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(batch.options, runtime)
  const store = await openStoreFor(batch.options, runtime, output)
  const targets = targetsOf(batch.streams, batch.events)
  const many = targets.length > 1
  const { found, missing } = await lookUp(store, targets, runtime.signal)
  const fatal = batch.options.skipMissing && found.length > 0 ? undefined : missingProblemOf(missing, many)
  if (fatal !== undefined) return fatal
  for (const { message } of missing) await output.say(`skipped: ${visibleText(message)}`)
  const commandId = batch.options.commandId ?? runtime.newId()
  const results: Result[] = []
  for (const target of found) {
    const id = targetCommandId(commandId, target, many)
    const result = { target, commandId: id, outcome: await changeTarget(batch, target, id, many, store, runtime) }
    results.push(result)
    await printResult(batch, result, many, output, runtime)
  }
  if (batch.options.output === 'json') await printJson(batch, results, output)
  if (!many) return problemOf(results[0])
  const incomplete = batchProblem(results)
  if (incomplete === undefined || !runtime.signal.aborted) return incomplete
  return { ...incomplete, exit: interruptedProblem(runtime.signal).exit }
}

async function changeTarget(
  batch: Batch,
  { stream, event }: Target,
  commandId: string,
  many: boolean,
  store: EventStore,
  runtime: Runtime,
): Promise<Result['outcome']> {
  if (runtime.signal.aborted) return { ...interruptedProblem(runtime.signal), stream }
  const options = transactOptions(
    batch.options,
    commandId,
    event === undefined ? batch.verb : `${batch.verb} ${event}`,
    runtime,
  )
  try {
    const outcome = await transact(store, stream, batch.operation(event), options)
    return outcome.kind === 'done' ? outcome : outcomeProblem(stream, outcome, commandId, runtime)
  } catch (error) {
    if (!many) throw error
    return { ...errorProblem(error, runtime), stream }
  }
}
