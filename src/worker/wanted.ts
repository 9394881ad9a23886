import { attemptOf, isWaitingJoin, type StreamEvent } from '../stream/event.ts'
import type { EventStream } from '../stream/event-stream.ts'
import { openEvents, openWork } from '../stream/ready-events.ts'
import type { Summary } from '../stream/summary.ts'
import { claimEndMs, claimRuns } from '../stream/time/deadlines.ts'
import type { LoopOptions } from './types.ts'

/** An event that can be claimed now. */
export interface Opening {
  readonly event: string
  /** Its claim ran out: who has gone silent on it, and how often it was tried until then. */
  readonly silent?: { readonly owner: string; readonly attempts: number }
}

export interface Openings {
  readonly openings: readonly Opening[]
  /** When the next claim may run out after which there may be something, epoch ms; else `Infinity`. */
  readonly againMs: number
}

/** Which events a loop works on. */
export class Wanted {
  readonly #names: ReadonlySet<string>
  readonly #topic: string | undefined
  readonly #encodedNames: ReadonlySet<string>
  readonly #encodedTopic: string | undefined

  constructor({ names, topic }: Pick<LoopOptions, 'names' | 'topic'>) {
    this.#names = new Set(names)
    this.#topic = topic
    this.#encodedNames = new Set(names.map(encoded))
    this.#encodedTopic = topic === undefined ? undefined : encoded(topic)
  }

  /** What a listing says of a stream: when its document is worth a look, epoch ms; `Infinity` for not while it stays so. */
  worthFrom(summary: Summary): number {
    const isReady = summary.ready.some(item => item.startsWith('+') || this.#isListed(item))
    return isReady ? Number.NEGATIVE_INFINITY : (summary.claimEndMs ?? Number.POSITIVE_INFINITY)
  }

  openingsIn(stream: EventStream, nowMs: number): Openings {
    const open = openEvents(stream)
    const openings: Opening[] = openWork(stream, open)
      .ready.filter(event => this.#isWanted(event))
      .map(event => ({ event: event.id }))
    let againMs = Number.POSITIVE_INFINITY
    for (const event of open) {
      if (!isClaimed(stream, event)) continue
      const isWanted = this.#isWanted(event)
      if (!claimRuns(event, nowMs)) {
        if (isWanted) {
          openings.push({ event: event.id, silent: { owner: event.lc.owner ?? '', attempts: attemptOf(event) } })
        }
        continue
      }
      // One that only its claim keeps open closes then, and a join that waits for it is ready.
      if (isWanted || !stream.isLeaf(stream.positionOf(event.id))) {
        againMs = Math.min(againMs, claimEndMs(event) ?? againMs)
      }
    }
    return { openings, againMs }
  }

  #isWanted({ name, topic }: StreamEvent): boolean {
    return this.#names.has(name) && (this.#topic === undefined || this.#topic === topic)
  }

  #isListed(item: string): boolean {
    const [name = '', topic] = item.split('|')
    return this.#encodedNames.has(name) && (this.#encodedTopic === undefined || this.#encodedTopic === topic)
  }
}

/** Whether there is a claim that another may take over once it has run out. */
function isClaimed(stream: EventStream, event: StreamEvent): boolean {
  if (event.status === 'init' || event.lc.owner === undefined || stream.held || isWaitingJoin(event)) return false
  return !stream.openSuccessors(event) && stream.finalAncestor(stream.positionOf(event.id)) === undefined
}

/** As `summarize` writes it. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
