import { countText } from '../../formats/terminal/count-text.ts'
import { visibleText } from '../../stream/text.ts'
import type { Batch } from './state.ts'

/** A change in one line: `cancel: 3 done, 1 refused`. Safe to print. */
export function summaryOf({ preview, outcomes, end }: Pick<Batch, 'preview' | 'outcomes' | 'end'>): {
  readonly text: string
  readonly isGood: boolean
} {
  const counts = new Map<string, number>()
  for (const { word } of outcomes) counts.set(word, (counts.get(word) ?? 0) + 1)
  const parts = Array.from(counts, ([word, count]) => `${countText(count)} ${word}`)
  const fault = end !== undefined && 'fault' in end ? end.fault : undefined
  if (fault !== undefined) parts.push(visibleText(fault))
  const text = `${VERBS[preview.verb]}: ${parts.length === 0 ? 'nothing was done' : parts.join(', ')}`
  return { text, isGood: fault === undefined && outcomes.every(({ isGood }) => isGood) }
}

const VERBS = { cancel: 'cancel', abort: 'abort', retry: 'retry', break: 'break lease' } as const
