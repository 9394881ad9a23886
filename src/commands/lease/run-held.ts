import { missingProblem, serviceFacts, unknownProblem } from '../../cli/outcome-problem.ts'
import { openOutput } from '../../cli/output.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor } from '../../cli/store.ts'
import { jsonDocument } from '../../formats/json.ts'
import type { EventStore, LeaseOutcome } from '../../store/store.ts'
import { visibleName } from '../../stream/text.ts'
import type { HeldLeaseOptions } from './flags.ts'
import { leaseState } from './run-show.ts'

/** renew, change, release: under the id of a lease one holds. A changed lease prints its new id alone. */
export async function changeLease(
  options: HeldLeaseOptions,
  word: 'renewed' | 'changed' | 'released',
  act: (store: EventStore) => Promise<LeaseOutcome>,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const outcome = await act(store)
  if (outcome.kind !== 'ok') return leaseProblem(options.stream, outcome, runtime)
  const state = word === 'released' ? 'available' : 'leased'
  if (options.output === 'json') {
    const known = leaseState(
      { name: options.stream, lease: { state } },
      word === 'released' ? undefined : outcome.leaseId,
    )
    await output.text(jsonDocument({ ...known, outcome: 'done' }))
  } else {
    if (word === 'changed') await output.lines([outcome.leaseId])
    await output.say(`the lease of ${visibleName(options.stream)} was ${word}`)
  }
  return undefined
}

/** Why renew, change or release did nothing; `undefined` if it did. */
function leaseProblem(stream: string, outcome: LeaseOutcome, runtime: Runtime): Problem | undefined {
  switch (outcome.kind) {
    case 'ok':
      return undefined
    case 'lost':
      return problem('lease-lost', `the given lease is not the lease of ${stream} (any longer)`, {
        stream,
        facts: serviceFacts(outcome.code, runtime),
      })
    case 'missing':
      return missingProblem(stream)
    case 'unknown':
      return unknownProblem(stream, undefined, outcome.cause, runtime)
    default:
      return outcome satisfies never
  }
}
