import type { StreamSink, StreamSource } from '../../subscriptions/source.ts'
import { sleepUntilAborted } from '../../util/concurrency.ts'
import type { MovedStream } from '../report.ts'
import { mayHaveEvents } from './events.ts'
import type { HookPositions } from './positions.ts'
import type { HookKind } from './target.ts'

/** Streams that the passes of a watchdog found moved, as far as they may have events for a hook. */
export class PassSource implements StreamSource {
  readonly isPushed = true
  readonly #kind: HookKind
  readonly #positions: HookPositions
  #sink: StreamSink | undefined
  #wantsAll = false
  /** The sweep in progress hands over all streams. */
  #isWhole = false
  /** All streams were handed over: what was reported before was reported to this hook. */
  #knowsAll = false
  #lastSweepMs: number | undefined

  constructor(kind: HookKind, positions: HookPositions) {
    this.#kind = kind
    this.#positions = positions
  }

  async run(sink: StreamSink, signal: AbortSignal): Promise<void> {
    this.#sink = sink
    await sleepUntilAborted(Number.POSITIVE_INFINITY, signal)
  }

  restart(): void {
    this.#wantsAll = true
    this.#isWhole = false
    this.#knowsAll = false
  }

  /** Whether the sweep that begins must hand over all streams. */
  takeWantsAll(): boolean {
    const wantsAll = this.#wantsAll
    this.#wantsAll = false
    this.#isWhole ||= wantsAll
    return wantsAll
  }

  beganSweep(startedMs: number): void {
    this.#sink?.began(startedMs)
  }

  endedSweep(startedMs: number): void {
    this.#lastSweepMs = startedMs
    this.#knowsAll ||= this.#isWhole
    this.#sink?.ended()
  }

  moved(streams: readonly MovedStream[]): void {
    this.#sink?.moved(streams.flatMap(moved => this.#found(moved) ?? []))
  }

  /** The watchdog has changed the stream: which version it has now is not known. */
  changed(name: string, nowMs: number): void {
    this.#sink?.moved([{ name, modifiedMs: nowMs }])
  }

  #found(moved: MovedStream) {
    const { listed, summary, isOtherLife, pin } = moved
    const { name, modifiedMs } = listed
    const before = this.#knowsAll ? moved.before : undefined
    const rules = { kind: this.#kind, sinceMs: this.#positions.sinceMs(name), lastSweepMs: this.#lastSweepMs }
    if (!mayHaveEvents({ ...moved, before: isOtherLife ? undefined : before }, rules)) return undefined
    const { ifBorn: born } = pin
    const isListed = summary !== undefined && summary === listed.summary && born !== undefined
    const seenMs = this.#lastSweepMs ?? 0
    return {
      name,
      modifiedMs,
      ...(isListed && { state: { version: summary.version, born } }),
      ...(before !== undefined && {
        before: { version: before, born: isOtherLife ? `not ${born}` : (born ?? ''), seenMs },
      }),
    }
  }
}
