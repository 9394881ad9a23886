import { heldProblem, missingProblem, unknownProblem } from '../../cli/outcome-problem.ts'
import { openOutput } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor } from '../../cli/store.ts'
import { jsonDocument } from '../../formats/json.ts'
import type { Holder, LeaseView } from '../../store/store.ts'
import { visibleName, visibleText } from '../../stream/text.ts'
import type { LeaseOptions } from './flags.ts'
import { leaseState } from './run-show.ts'

interface Acquisition extends LeaseOptions {
  readonly leaseId: string
  readonly durationS: number
  readonly holder: Holder
}

/** One try: stdout gets the id alone, so that a script can keep it. */
export async function acquireLease(options: Acquisition, runtime: Runtime): Promise<Problem | undefined> {
  const { stream, leaseId, durationS, holder } = options
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const startedMs = store.nowMs()
  const outcome = await store.acquire(stream, { leaseId, durationS, holder, record: true })
  switch (outcome.kind) {
    case 'acquired': {
      const duration = durationS < 0 ? 'infinite' : `${durationS}s`
      if (options.output === 'json') {
        const lease = leaseTaken(durationS, holder, startedMs)
        await output.text(jsonDocument({ ...leaseState({ name: stream, lease }, outcome.leaseId), outcome: 'done' }))
      } else {
        await output.lines([outcome.leaseId])
        await output.say(
          `${visibleName(stream)} is leased by ${visibleText(holder.by)}, ${durationS < 0 ? 'until released or broken' : `for ${duration}`}`,
        )
      }
      return undefined
    }
    case 'held': {
      // acquire waits for nobody, so the advice to wait longer would be wrong
      const { tryCommand: _, ...held } = heldProblem(stream, outcome.lease, 0, outcome.lastBy, runtime)
      return { ...held, message: `${stream} is leased by another`, facts: (held.facts ?? []).slice(0, 1) }
    }
    case 'missing':
      return missingProblem(stream)
    case 'unknown':
      return {
        ...unknownProblem(stream, undefined, outcome.cause, runtime),
        hint: `Repeat with --lease-id ${leaseId}: it is safe.`,
      }
    default:
      return outcome satisfies never
  }
}

/** A lease lasts at least until then: it began when the store took the request, or later. */
function leaseTaken(durationS: number, holder: Holder, startedMs: number): LeaseView {
  if (durationS < 0) return { state: 'leased', duration: 'infinite', holder }
  return { state: 'leased', duration: 'fixed', holder, untilMs: startedMs + durationS * 1_000 }
}
