import type { GlobalOptions } from '../../cli/options.ts'
import { openProgressLine } from '../../cli/progress-line.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { countText } from '../../formats/terminal/count-text.ts'
import { OUTCOME_WORDS, type OutcomeWord } from './outcome-words.ts'
import { type Result, wordOf } from './result.ts'

/** How many targets have which outcome. */
export type Counts = ReadonlyMap<OutcomeWord, number>

/** Counts of what became of these. */
export function countsOf(results: readonly Pick<Result, 'outcome'>[]): Counts {
  const counts = new Map<OutcomeWord, number>()
  for (const result of results) counts.set(wordOf(result), (counts.get(wordOf(result)) ?? 0) + 1)
  return counts
}

/** `408 done, 3 busy` */
export function countsText(counts: Counts): string {
  return OUTCOME_WORDS.flatMap(word => {
    const count = counts.get(word)
    return count === undefined ? [] : [`${countText(count)} ${word}`]
  }).join(', ')
}

/** `412 of 1 000: 408 done, 3 busy, 1 changed` */
export function progressText(counts: Counts, total: number): string {
  const ended = counts.values().reduce((sum, count) => sum + count, 0)
  return `${countText(ended)} of ${countText(total)}${ended === 0 ? '' : `: ${countsText(counts)}`}`
}

const DRAW_EVERY_MS = 200

/** How far a batch is, on a terminal. */
export interface Progress {
  /** Takes the line away while something else is printed. */
  aside(print: () => Promise<void>): Promise<void>
  end(): Promise<void>
}

/** Draws the counts as they grow. What the first Ctrl-C says stands on a line of its own. */
export function openProgress(counts: Counts, total: number, options: GlobalOptions, runtime: Runtime): Progress {
  const line = openProgressLine(options, runtime)
  let isAside = false
  const draw = () => {
    if (!isAside) void line.show(progressText(counts, total))
  }
  const timer = setInterval(draw, DRAW_EVERY_MS).unref()
  const clear = () => void line.clear()
  runtime.signal.addEventListener('abort', clear)
  return {
    async aside(print) {
      isAside = true
      await line.clear()
      await print()
      isAside = false
    },
    async end() {
      clearInterval(timer)
      runtime.signal.removeEventListener('abort', clear)
      await line.clear()
    },
  }
}
