import { outcomeProblem } from '../../cli/outcome-problem.ts'
import { transactOptions } from '../../cli/store.ts'
import { summaryOf } from '../../ops/summaries.ts'
import { type TransactOutcome, transact } from '../../ops/transact/transact.ts'
import type { Precondition } from '../../stream/precondition.ts'
import { type BatchAction, type TargetChange, unreadable } from './action.ts'
import type { TransactCommand } from './options.ts'

/** The action of a command that makes one transaction in each target. */
export function transactAction(command: TransactCommand): BatchAction {
  const { name, thirdPerson, pastParticiple, leavesOut, operation } = command
  return {
    name,
    question: what => `This ${thirdPerson} ${what}`,
    pastParticiple,
    leavesOut,
    objection: unreadable,
    async change(change) {
      const { target, commandId, store, options, runtime } = change
      const { stream, event } = target
      const purpose = event === undefined ? name : `${name} ${event}`
      const how = transactOptions(options, commandId, purpose, runtime)
      const what = operation(event === undefined ? {} : { event }, options)
      const attempt = (pin: Precondition) => transact(store, stream, what, { ...how, ...pin })
      const first = await attempt(change.pin)
      const pin = isChanged(first) ? await pinOfSameBytes(change) : undefined
      const outcome = pin === undefined ? first : await attempt(pin)
      return outcome.kind === 'done' ? outcome : outcomeProblem(stream, outcome, commandId, runtime)
    },
  }
}

function isChanged(outcome: TransactOutcome): boolean {
  return outcome.kind === 'refused' && outcome.refusal.code === 'changed'
}

/**
 * A copied document can contain a foreign write that no transaction has recorded. The precondition from a listing does not
 * include that write; if the bytes are still those of the listing, the preview did.
 */
async function pinOfSameBytes({
  target,
  pin,
  etag,
  store,
  options,
  runtime,
}: TargetChange): Promise<Precondition | undefined> {
  if (etag === undefined || pin.ifSum !== undefined || options.ifVersion !== undefined) return undefined
  const now = await summaryOf(store, { name: target.stream }, runtime.signal)
  return now?.listed.etag === etag && now.fault === undefined ? now.pin : undefined
}
