import { interruptedProblem } from '../../cli/error-problem.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { counted, countText } from '../../formats/terminal/count-text.ts'
import { visibleName } from '../../stream/text.ts'
import type { Transferred, TransferWord } from './outcome.ts'

const UNDONE: readonly TransferWord[] = ['refused', 'busy', 'changed', 'failed', 'unknown']
/** In the order in which they are told. */
const WORDS: readonly TransferWord[] = ['done', 'todo', 'already', 'skipped', ...UNDONE, 'gone']
const SPOKEN: { readonly [Word in TransferWord]?: string } = { gone: 'vanished meanwhile', todo: 'to be done' }
/** Names of undone streams that the problem at the end repeats. */
const NAMES_SHOWN = 5
const ANY_HINT = 'What was done stays done; repeating the command is safe.'

/** What the outcomes of many streams add up to. */
export class Tally {
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
