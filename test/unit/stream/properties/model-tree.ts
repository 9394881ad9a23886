import type { EventSpec } from '../../../../src/stream/operations/operation.ts'

/** An event of the model. */
export interface ModelEvent {
  readonly id: string
  readonly prev: string
  readonly next: string[]
  readonly isJoin: boolean
  status: string
  owner: string | undefined
  fence: number | undefined
  untilMs: number | undefined
  attempt: number | undefined
  /** A join that was not released: it waits, unless it was ended. */
  isMarked: boolean
  superseded: boolean
  /** It was worked on, or ended by its own result. */
  ran: boolean
  tag: string
  timeout: string
  openedMs: number
  /** How long its limits stood still. */
  pausedMs: number
}

export function isEnded({ status }: Pick<ModelEvent, 'status'>): boolean {
  return status === 'completed' || status === 'aborted' || status === 'canceled'
}

/** A join whose branches have not ended. */
export function waits(event: ModelEvent): boolean {
  return event.isMarked && !isEnded(event)
}

/** The tree of a model: positions, and the relations that follow from them. */
export class ModelTree {
  events: ModelEvent[] = []
  version = 0
  nowMs = 0
  suspendedMs: number | undefined
  /** Since when its root is `init`, without an end. */
  heldMs: number | undefined
  wasResumed = false

  copy(): ModelTree {
    const copy = new ModelTree()
    copy.events = this.events.map(event => ({ ...event, next: [...event.next] }))
    copy.version = this.version
    copy.suspendedMs = this.suspendedMs
    copy.heldMs = this.heldMs
    copy.wasResumed = this.wasResumed
    return copy
  }

  find(id: string): ModelEvent | undefined {
    return this.events.find(event => event.id === id)
  }

  get isHeld(): boolean {
    return this.events[0]?.status === 'init'
  }

  get isSuspended(): boolean {
    return this.suspendedMs !== undefined
  }

  /** Limits stood still since then. */
  goOn(sinceMs: number): void {
    for (const event of this.events) {
      if (isEnded(event) || event.superseded) continue
      event.pausedMs += Math.max(0, this.nowMs - Math.max(sinceMs, event.openedMs))
    }
  }

  isClaimed(event: ModelEvent): boolean {
    return event.untilMs !== undefined && event.untilMs > this.nowMs && !isEnded(event)
  }

  /** Its direct successors that still count. */
  below(event: ModelEvent): ModelEvent[] {
    return this.events.filter(({ prev, superseded }) => prev === event.id && !superseded)
  }

  descendants(event: ModelEvent): ModelEvent[] {
    return this.events.filter(({ prev }) => prev === event.id).flatMap(next => [next, ...this.descendants(next)])
  }

  /** From its parent to the root. */
  above(event: ModelEvent): ModelEvent[] {
    const parent = this.find(event.prev)
    return parent === undefined ? [] : [parent, ...this.above(parent)]
  }

  /** Joins of the forks it belongs to as a branch. */
  joinsBeside(event: ModelEvent): ModelEvent[] {
    const above = this.above(event)
    const path = new Set([event, ...above])
    return above.flatMap(fork =>
      this.events.filter(other => other.isJoin && other.prev === fork.id && !other.superseded && !path.has(other)),
    )
  }

  hasRun(join: ModelEvent): boolean {
    if (waits(join)) return false
    return join.ran || join.status === 'inprocess' || join.owner !== undefined
  }

  end(event: ModelEvent, status: string): void {
    event.status = status
    event.untilMs = undefined
    if (event.id === '00') this.suspendedMs = undefined
    if (status !== 'canceled') event.ran = true
  }

  endBelow(event: ModelEvent): void {
    for (const next of this.descendants(event)) if (!isEnded(next)) this.end(next, 'canceled')
  }

  free(event: ModelEvent): void {
    Object.assign(event, { owner: undefined, fence: undefined, untilMs: undefined })
  }

  /** The events above it are reopened with it, and the joins beside it wait again. */
  reopen(event: ModelEvent, joins: readonly ModelEvent[]): void {
    const above = this.above(event).filter(isEnded)
    this.#open(event, event.id === '00' || event.isMarked ? 'inprocess' : 'init')
    for (const parent of above) this.#open(parent, 'inprocess')
    for (const join of joins.filter(each => !waits(each))) {
      if (isEnded(join)) this.#open(join, 'inprocess')
      Object.assign(join, { status: 'inprocess', isMarked: true })
    }
  }

  #open(event: ModelEvent, status: string): void {
    this.free(event)
    event.status = status
    event.attempt = (event.attempt ?? 1) + 1
    Object.assign(event, { openedMs: this.nowMs, pausedMs: 0 })
  }

  addBelow(
    parent: ModelEvent,
    {
      next,
      forks,
      join,
    }: { readonly next?: EventSpec; readonly forks: readonly EventSpec[]; readonly join?: EventSpec },
  ): void {
    const thread = parent.id.split('.').slice(0, -1)
    if (next !== undefined) this.add(this.#nextStep(thread), parent, 'init', next)
    const first = this.#nextThread(thread)
    for (const [at, fork] of forks.entries()) {
      this.add([...thread, two(first + at), '00'].join('.'), parent, 'init', fork)
    }
    if (join !== undefined) this.add(this.#nextStep(thread), parent, 'inprocess', join, true)
  }

  add(id: string, parent: ModelEvent | undefined, status: string, spec: EventSpec, isJoin = false): ModelEvent {
    parent?.next.push(id)
    const event: ModelEvent = {
      id,
      prev: parent?.id ?? '',
      next: [],
      isJoin,
      status,
      owner: undefined,
      fence: undefined,
      untilMs: undefined,
      attempt: undefined,
      isMarked: isJoin,
      superseded: false,
      ran: false,
      tag: spec.tag ?? '',
      timeout: spec.timeout ?? '',
      openedMs: this.nowMs,
      pausedMs: 0,
    }
    this.events.push(event)
    return event
  }

  #nextStep(thread: readonly string[]): string {
    const steps = this.#pathsUnder(thread).filter(path => path.length === thread.length + 1)
    return [...thread, two(1 + Math.max(-1, ...steps.map(path => Number(path.at(-1)))))].join('.')
  }

  #nextThread(thread: readonly string[]): number {
    const deeper = this.#pathsUnder(thread).filter(path => path.length > thread.length + 1)
    return 1 + Math.max(0, ...deeper.map(path => Number(path[thread.length])))
  }

  #pathsUnder(thread: readonly string[]): string[][] {
    return this.events.map(({ id }) => id.split('.')).filter(path => thread.every((part, at) => path[at] === part))
  }

  /** Closes and releases until nothing is left to do. Returns whether anything changed. */
  settle(): boolean {
    let isSettled = false
    while (this.events.some(event => this.#settleOne(event))) isSettled = true
    return isSettled
  }

  #settleOne(event: ModelEvent): boolean {
    const below = this.below(event)
    if (isEnded(event) || event.superseded || below.length === 0) return false
    const join = below.find(waits)
    if (join !== undefined) {
      if (!below.every(next => isEnded(next) || waits(next))) return false
      Object.assign(join, { isMarked: false, status: 'init', openedMs: this.nowMs, pausedMs: 0 })
      return true
    }
    const works = event.status === 'inprocess' || (event.status === 'init' && !this.isHeld)
    if (!works || waits(event) || this.isClaimed(event) || !below.every(isEnded)) return false
    this.end(event, 'completed')
    return true
  }
}

function two(number: number): string {
  return String(number).padStart(2, '0')
}
