import { interruptedProblem } from '../../cli/error-problem.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { itemsWriter, type Output } from '../../cli/output.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import { problemJson } from '../../cli/problem-text.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { jsonLine, jsonText } from '../../formats/json.ts'
import { counted, countText } from '../../formats/terminal/numbers.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { openProgress } from '../batch/progress.ts'
import { count, countsText, outcomeCell, type TransferWord } from '../batch/result.ts'
import type { TransferOutcome } from './outcome.ts'

/** Reports the outcomes of streams, one by one. */
export interface TransferReport {
  add(outcome: TransferOutcome): Promise<void>
  /** @param stopped why the transfer ended early, if it did */
  end(stopped?: Problem): Promise<Problem | undefined>
}

/** One line per outcome, one document with an item each, one document each, or nothing because stdout has the data. */
export type ReportFormat = 'text' | 'json' | 'ndjson' | 'none'

export function openReport(
  format: ReportFormat,
  options: GlobalOptions,
  output: Output,
  runtime: Runtime,
): TransferReport {
  const tally = new Tally()
  const items = itemsWriter(output)
  const progress = openProgress(() => (tally.total > 1 ? tally.sentence : ''), options, runtime, !runtime.stdout.isTty)
  /** The first outcome, held back until there is a second: the problem of a single stream is printed as every error is. */
  let only: TransferOutcome | undefined
  const print = async (outcome: TransferOutcome) => {
    if (format === 'json') await items.write([jsonText(outcomeJson(outcome), 0)])
    else if (format === 'ndjson') await output.text(jsonLine(outcomeJson(outcome)))
    else if (format === 'text' && !options.quiet) await output.lines([outcomeLine(outcome, output)])
  }
  return {
    async add(outcome) {
      tally.add(outcome)
      const held = only
      only = tally.total === 1 ? outcome : undefined
      if (held !== undefined) await print(held)
      if (only === undefined) await print(outcome)
    },
    async end(stopped) {
      await progress.end()
      const single = only?.problem
      const isForPrograms = format === 'json' || format === 'ndjson'
      if (only !== undefined && (single === undefined || isForPrograms)) await print(only)
      if (format === 'json') await items.end({ total: tally.total, counts: Object.fromEntries(tally.counts) })
      if (tally.total > 1) await output.say(tally.sentence)
      if (stopped !== undefined) return tally.stoppedBy(stopped)
      return single ?? tally.incomplete(runtime)
    },
  }
}

/** An outcome as JSON. Fields are only ever added. */
function outcomeJson({ stream, word, note, version, place, problem: why }: TransferOutcome) {
  return {
    stream,
    outcome: word,
    note,
    version: version ?? null,
    place: place ?? null,
    error: why === undefined ? null : problemJson(why),
  }
}

const WORD_WIDTH = 7

function outcomeLine({ stream, word, note, version, place, problem: why }: TransferOutcome, { paint }: Output): string {
  const { text, style } = outcomeCell(word)
  const parts = [
    `${paint(style, text)}${' '.repeat(WORD_WIDTH - word.length)}`,
    visibleName(stream),
    visibleText(note.startsWith(`${stream}: `) ? note.slice(stream.length + 2) : note),
    place === undefined ? '' : visibleText(place),
    version === undefined ? '' : paint('dim', `v${version}`),
    why === undefined ? '' : paint('dim', `[${visibleText(why.code)}]`),
  ]
  return parts.filter(part => part !== '').join('  ')
}

const UNDONE: readonly TransferWord[] = ['refused', 'busy', 'changed', 'failed', 'unknown']
/** Names of failed streams that the final problem repeats, per outcome. */
const NAMES_SHOWN = 5
export const ANY_HINT = 'Nothing done so far is undone; repeating the command is safe.'

/** Counts the outcomes of many streams. */
class Tally {
  total = 0
  readonly counts = new Map<TransferWord, number>()
  /** The first names for each outcome. */
  readonly #names = new Map<TransferWord, string[]>()
  /** Hints of the failed streams. Two suffice to know that they differ. */
  readonly #hints = new Set<string>()

  add({ word, stream, problem: why }: TransferOutcome): void {
    this.total += 1
    count(this.counts, word)
    if (why === undefined) return
    const known = this.#names.get(word) ?? []
    if (known.length < NAMES_SHOWN) this.#names.set(word, [...known, stream])
    if (this.#hints.size < 2) this.#hints.add(why.hint ?? ANY_HINT)
  }

  /** `60 streams: 57 done, 2 already, 1 refused` */
  get sentence(): string {
    return `${counted(this.total, 'stream')}: ${countsText(this.counts)}`
  }

  /** The problem that ended the transfer early, with whether anything was applied. */
  stoppedBy(what: Problem): Problem {
    return { ...what, applied: this.#count('done') > 0 ? 'yes' : this.#count('unknown') > 0 ? 'unknown' : what.applied }
  }

  /** Exit 7 if some streams were not transferred. */
  incomplete(runtime: Runtime): Problem | undefined {
    const words = UNDONE.filter(word => this.counts.has(word))
    const undone = words.reduce((sum, word) => sum + this.#count(word), 0)
    if (undone === 0) return undefined
    const what = problem('batch-incomplete', `${countText(undone)} of ${countText(this.total)} not done`, {
      facts: words.map(word => [word, this.#listed(word)] as const),
      applied: undone < this.total ? 'yes' : this.#count('unknown') > 0 ? 'unknown' : 'no',
      hint: this.#hints.size === 1 ? [...this.#hints].join('') : ANY_HINT,
    })
    return runtime.signal.aborted ? { ...what, exit: interruptedProblem(runtime.signal).exit } : what
  }

  #count(word: TransferWord): number {
    return this.counts.get(word) ?? 0
  }

  #listed(word: TransferWord): string {
    const names = this.#names.get(word) ?? []
    const more = this.#count(word) - names.length
    return `${this.#count(word)}: ${names.map(visibleName).join(' ')}${more > 0 ? ` +${more}` : ''}`
  }
}
