import { outcomeProblem } from '../../cli/outcome-problem.ts'
import { transactOptions } from '../../cli/store.ts'
import { summaryOf } from '../../ops/summaries.ts'
import { type TransactOutcome, transact } from '../../ops/transact/transact.ts'
import type { Pin } from '../../stream/precondition.ts'
import { type Change, type Standing, unreadable, type Verb } from './action.ts'
import type { OnStreams } from './options.ts'

const LEFT_OUT: { readonly [Name in OnStreams['verb']]: NonNullable<Verb['leavesOut']> } = {
  cancel: { test: isEnded, because: 'already final' },
  abort: { test: isEnded, because: 'already final' },
  retry: { test: ({ hasFailed }) => !hasFailed, because: 'without a failure' },
}

/** A command that makes one transaction of each target. */
export function transactVerb({ verb, does, word, operation }: OnStreams): Verb {
  return {
    name: verb,
    question: what => `This ${does} ${what}`,
    word,
    leavesOut: LEFT_OUT[verb],
    objection: unreadable,
    async change(change) {
      const { target, commandId, store, options, runtime } = change
      const { stream, event } = target
      const purpose = event === undefined ? verb : `${verb} ${event}`
      const how = transactOptions(options, commandId, purpose, runtime)
      const what = operation(event === undefined ? {} : { event }, options)
      const attempt = (pin: Pin) => transact(store, stream, what, { ...how, ...pin })
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
 * A document that was copied here may carry a foreign write that no transaction has recorded. A listing's pin does not
 * know of it; where the bytes are still those that were listed, it is part of what was looked at.
 */
async function pinOfSameBytes({ target, pin, etag, store, options, runtime }: Change): Promise<Pin | undefined> {
  if (etag === undefined || pin.ifSum !== undefined || options.ifVersion !== undefined) return undefined
  const now = await summaryOf(store, { name: target.stream }, runtime.signal)
  return now?.listed.etag === etag && now.fault === undefined ? now.pin : undefined
}

function isEnded(standing: Standing): boolean {
  return standing.isEnded
}
