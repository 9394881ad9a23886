import { errorProblem } from '../../../cli/error-problem.ts'
import { OutputQueue } from '../../../cli/output/queue.ts'
import type { Output } from '../../../cli/output.ts'
import type { Runtime } from '../../../cli/runtime.ts'
import { jsonLine, orNull } from '../../../formats/json.ts'
import { counted } from '../../../formats/terminal/numbers.ts'
import type { DeadLetter } from '../../../inbox/drain/dead-letters.ts'
import type { DrainEvent, DrainReport } from '../../../inbox/drain/types.ts'
import { visibleName, visibleText } from '../../../util/visible-text.ts'
import type { DrainCommandOptions } from './options.ts'

/** Lines that wait to be written at once, characters. */
const MOST_BUFFERED = 64 * 1024

/** Reports what a drain does, in order. */
export class DrainReporter {
  readonly #options: DrainCommandOptions
  readonly #output: Output
  readonly #runtime: Runtime
  readonly #queue = new OutputQueue()
  #lines: string[] = []
  #buffered = 0
  readonly #counts = { done: 0, duplicates: 0, dead: 0 }
  #reported = 0
  #hasPartitions = false
  #reportedMs: number

  constructor(options: DrainCommandOptions, output: Output, runtime: Runtime) {
    this.#options = options
    this.#output = output
    this.#runtime = runtime
    this.#reportedMs = runtime.nowMs()
  }

  /** Resolves when everything is written. */
  flush(): Promise<void> {
    this.#writeLines()
    return this.#queue.flush()
  }

  /** Waits while the reader of the output is too slow. */
  room(): Promise<void> {
    return this.#queue.room(this.#runtime.signal)
  }

  /** Says how much was done since the last time. */
  readonly progress = (): void => {
    const nowMs = this.#runtime.nowMs()
    const { done, duplicates, dead } = this.#counts
    const all = done + duplicates + dead
    const lately = all - this.#reported
    const seconds = Math.max(1, nowMs - this.#reportedMs) / 1_000
    this.#reportedMs = nowMs
    this.#reported = all
    if (lately > 0) this.#say(`${reportText(this.#counts)}, ${Math.round(lately / seconds)} a second`)
  }

  readonly observe = (event: DrainEvent): void => {
    switch (event.kind) {
      case 'done':
        this.#record(event)
        break
      case 'dead':
        this.#dead(event.letter)
        break
      case 'again':
        if (this.#options.verbose)
          this.#say(`again      ${visibleText(event.id)}: ${event.code}: ${visibleText(event.why)}`)
        break
      case 'partitions':
        this.#say(partitionsText(event.held, event.count, this.#hasPartitions))
        this.#hasPartitions = event.held.length > 0
        break
      case 'interrupted':
        this.#say(`${visibleText(errorProblem(event.error, this.#runtime).message)}; trying again`)
        break
      case 'resumed':
        this.#say('the store works again')
        break
      default:
        event satisfies never
    }
  }

  #record({ partition, id, key, outcome, stream }: Extract<DrainEvent, { kind: 'done' }>): void {
    this.#counts[outcome === 'duplicate' ? 'duplicates' : 'done'] += 1
    this.#line({ partition, id, key, outcome, stream, code: null, message: null })
  }

  #dead(letter: DeadLetter): void {
    this.#counts.dead += 1
    const { partition, id, key, code, why, stream } = letter
    this.#line({ partition, id, key, outcome: 'dead', stream: orNull(stream || undefined), code, message: why })
    if (this.#options.output !== 'ndjson') this.#say(deadText(letter))
  }

  #line(fields: Readonly<Record<string, unknown>>): void {
    if (this.#options.output !== 'ndjson') return
    const line = jsonLine({ inbox: this.#options.inbox, ...fields })
    this.#lines.push(line)
    this.#buffered += line.length
    if (this.#buffered >= MOST_BUFFERED) this.#writeLines()
    else if (this.#lines.length === 1) setImmediate(() => this.#writeLines())
  }

  #writeLines(): void {
    if (this.#lines.length === 0) return
    const text = this.#lines.join('')
    this.#lines = []
    this.#buffered = 0
    this.#queue.add(text.length, () => this.#output.text(text))
  }

  #say(sentence: string): void {
    this.#queue.add(sentence.length, () => this.#output.say(sentence))
  }
}

/** `dead       o7 d/o7: exists: the stream exists` */
function deadText({ id, stream, code, why }: DeadLetter): string {
  const where = stream === '' ? '' : ` ${visibleName(stream)}`
  return `dead       ${visibleText(id === '' ? 'a line' : id)}${where}: ${code}: ${visibleText(why)}`
}

/** @param hadSome it drained partitions before */
function partitionsText(held: readonly number[], count: number, hadSome: boolean): string {
  if (held.length === 0) return hadSome ? 'drains no partition for now' : 'no partition is free'
  if (held.length === count) return count === 1 ? 'drains the only partition' : `drains all ${count} partitions`
  const shown = held.slice(0, 16).join(', ')
  return `drains ${held.length} of ${counted(count, 'partition')}: ${shown}${held.length > 16 ? ', …' : ''}`
}

/** A sentence about all that was drained. */
export function reportText({ done, duplicates, dead }: DrainReport): string {
  if (done + duplicates + dead === 0) return 'nothing to drain'
  const besides = [
    ...(duplicates === 0 ? [] : [`${counted(duplicates, 'duplicate')}`]),
    ...(dead === 0 ? [] : [`${counted(dead, 'dead letter')}`]),
  ]
  return [`drained ${counted(done, 'record')}`, ...besides].join(', ')
}
