import { interruptedProblem } from '../../cli/error-problem.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { itemsWriter, type Output } from '../../cli/output.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import { problemJson } from '../../cli/problem-text.ts'
import { openProgressLine } from '../../cli/progress-line.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { jsonLine, jsonText } from '../../formats/json.ts'
import { counted, countText } from '../../formats/terminal/numbers.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { outcomeStyles } from '../batch/result.ts'
import type { Transferred, TransferWord } from './outcome.ts'

/** Where the outcomes of streams go, one by one. */
export interface TransferReport {
  add(outcome: Transferred): Promise<void>
  /** @param stopped why it ended before its end, if it did */
  end(stopped?: Problem): Promise<Problem | undefined>
}

const PROGRESS_MS = 100

export function openReport(
  format: ReportFormat,
  options: GlobalOptions,
  output: Output,
  runtime: Runtime,
): TransferReport {
  const tally = new Tally()
  const print = printer(format, options, output)
  const progress = openProgressLine(options, runtime, !runtime.stdout.isTty)
  /** Held back until there is a second one: of a single stream the problem is printed at the end, as every error is. */
  let only: Transferred | undefined
  let shownMs = 0
  return {
    async add(outcome) {
      tally.add(outcome)
      if (tally.total === 1) {
        only = outcome
        return
      }
      if (only !== undefined) await print.add(only)
      only = undefined
      await print.add(outcome)
      if (runtime.nowMs() - shownMs < PROGRESS_MS) return
      shownMs = runtime.nowMs()
      await progress.show(tally.sentence)
    },
    async end(stopped) {
      await progress.clear()
      const single = only?.problem
      if (only !== undefined && (single === undefined || isForPrograms(format))) await print.add(only)
      await print.end(tally)
      if (tally.total > 1) await output.say(tally.sentence)
      if (stopped !== undefined) return tally.stoppedBy(stopped)
      return single ?? tally.incomplete(runtime)
    },
  }
}

/** How outcomes are printed: a line each, an item of one document, a document each, or not: stdout has the data. */
export type ReportFormat = 'text' | 'json' | 'ndjson' | 'none'

function isForPrograms(format: ReportFormat): boolean {
  return format === 'json' || format === 'ndjson'
}

/** Prints outcomes, and what belongs behind them. */
export interface Printer {
  add(outcome: Transferred): Promise<void>
  end(tally: Tally): Promise<void>
}

function printer(format: ReportFormat, options: GlobalOptions, output: Output): Printer {
  switch (format) {
    case 'ndjson':
      return { add: outcome => output.text(jsonLine(outcomeJson(outcome))), end: async () => {} }
    case 'json':
      return jsonPrinter(output)
    case 'none':
      return { add: async () => {}, end: async () => {} }
    case 'text':
      return {
        add: async outcome => {
          if (!options.quiet) await output.lines([outcomeLine(outcome, output)])
        },
        end: async () => {},
      }
    default:
      return format satisfies never
  }
}

function jsonPrinter(output: Output): Printer {
  const items = itemsWriter(output)
  return {
    add: outcome => items.write([jsonText(outcomeJson(outcome), 0)]),
    end: ({ total, counts }) => items.end({ total, counts }),
  }
}

/** An outcome as JSON; fields are only ever added. */
function outcomeJson({ stream, word, note, version, place, problem: why }: Transferred) {
  return {
    stream,
    outcome: word,
    note,
    version: version ?? null,
    place: place ?? null,
    error: why === undefined ? null : problemJson(why),
  }
}

const LOOKS = {
  ...outcomeStyles,
  todo: { glyph: '○', style: 'plain' },
  skipped: { glyph: '-', style: 'dim' },
  gone: { glyph: '-', style: 'dim' },
} as const satisfies { readonly [Word in TransferWord]: object }

const WORD_WIDTH = 7

function outcomeLine({ stream, word, note, version, place, problem: why }: Transferred, { paint }: Output): string {
  const { glyph, style } = LOOKS[word]
  const parts = [
    `${paint(style, `${glyph} ${word}`)}${' '.repeat(WORD_WIDTH - word.length)}`,
    visibleName(stream),
    visibleText(note.startsWith(`${stream}: `) ? note.slice(stream.length + 2) : note),
    place === undefined ? '' : visibleText(place),
    version === undefined ? '' : paint('dim', `v${version}`),
    why === undefined ? '' : paint('dim', `[${visibleText(why.code)}]`),
  ]
  return parts.filter(part => part !== '').join('  ')
}

const UNDONE: readonly TransferWord[] = ['refused', 'busy', 'changed', 'failed', 'unknown']
/** In the order in which they are told. */
const WORDS: readonly TransferWord[] = ['done', 'todo', 'already', 'skipped', ...UNDONE, 'gone']
const SPOKEN: { readonly [Word in TransferWord]?: string } = { gone: 'vanished meanwhile', todo: 'to be done' }
/** Names of undone streams that the problem at the end repeats. */
const NAMES_SHOWN = 5
const ANY_HINT = 'What was done stays done; repeating the command is safe.'

/** What the outcomes of many streams add up to. */
class Tally {
  total = 0
  readonly #counts = new Map<TransferWord, number>()
  /** The first names of each outcome. */
  readonly #names = new Map<TransferWord, string[]>()
  /** What those that were not done have as a hint; two are as good as many. */
  readonly #hints = new Set<string>()

  add({ word, stream, problem: why }: Transferred): void {
    this.total += 1
    this.#counts.set(word, this.#count(word) + 1)
    if (why === undefined) return
    const known = this.#names.get(word) ?? []
    if (known.length < NAMES_SHOWN) this.#names.set(word, [...known, stream])
    if (this.#hints.size < 2) this.#hints.add(why.hint ?? ANY_HINT)
  }

  /** By outcome, those that are there. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts)
  }

  /** `60 streams: 57 done, 2 already, 1 refused` */
  get sentence(): string {
    const parts = WORDS.filter(word => this.#counts.has(word)).map(
      word => `${countText(this.#count(word))} ${SPOKEN[word] ?? word}`,
    )
    return `${counted(this.total, 'stream')}: ${parts.join(', ')}`
  }

  /** A problem that ended it all, with what had been done by then. */
  stoppedBy(what: Problem): Problem {
    return { ...what, applied: this.#count('done') > 0 ? 'yes' : this.#count('unknown') > 0 ? 'unknown' : what.applied }
  }

  /** Exit 7 if some were not done. */
  incomplete(runtime: Runtime): Problem | undefined {
    const words = UNDONE.filter(word => this.#counts.has(word))
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
    return this.#counts.get(word) ?? 0
  }

  #listed(word: TransferWord): string {
    const names = this.#names.get(word) ?? []
    const more = this.#count(word) - names.length
    return `${this.#count(word)}: ${names.map(visibleName).join(' ')}${more > 0 ? ` +${more}` : ''}`
  }
}
