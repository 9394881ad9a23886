import type { Problem } from '../../cli/problem.ts'
import type { EventStore } from '../../store/store.ts'
import type { EndedBatch } from './end.ts'
import { perform } from './perform.ts'
import type { Plan } from './plan.ts'
import type { Result, Told } from './result.ts'
import { openRunFile, type RunFile } from './run-file.ts'
import { type Target, targetCommandId } from './targets.ts'

export interface Means {
  readonly store: EventStore
  readonly commandId: string
  /** More than one target was asked for, or may have been. */
  readonly isBatch: boolean
  /** The run file whose rest this is. */
  readonly rerunOf: string | undefined
}

/** Who hears of it while it goes on. */
export interface Witness {
  /** From now on things are changed; of a batch `runFile` keeps what becomes of each target. */
  began(runFile: string | undefined): void
  onResult(result: Result): void
  /** The run file can no longer be written. The batch goes on. */
  onFault(message: string): void
}

/** Does what was planned; a batch leaves a run file. A problem is what kept all of it from being begun. */
export async function doPlan(plan: Plan, means: Means, told: Told, witness: Witness): Promise<EndedBatch | Problem> {
  const { commandId, isBatch, store } = means
  const runFile = isBatch ? await runFileFor(plan, means, told, witness) : undefined
  if (runFile !== undefined && 'exit' in runFile) return runFile
  witness.began(runFile?.path)
  const results = new Map<Target, Result>()
  const onResult = (result: Result) => {
    results.set(result.target, result)
    runFile?.add(result)
    witness.onResult(result)
  }
  for (const { target, outcome } of plan.settled) {
    onResult({ target, commandId: targetCommandId(commandId, target, isBatch), outcome })
  }
  await perform(plan.jobs, told, { store, commandId, isBatch, onResult })
  await runFile?.close()
  return { plan, results: plan.targets.flatMap(target => results.get(target) ?? []), runFile: runFile?.path }
}

/** Nothing is begun without one: what could not be taken up again is not started. */
async function runFileFor(
  plan: Plan,
  { store, commandId, rerunOf }: Means,
  { verb, options, runtime }: Told,
  { onFault }: Witness,
): Promise<RunFile | Problem | undefined> {
  if (plan.targets.length === 0) return undefined
  return openRunFile({ verb: verb.name, store: store.address, commandId, options, rerunOf }, plan, runtime, onFault)
}
