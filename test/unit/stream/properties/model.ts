import type { Operation, RefusalCode } from '../../../../src/stream/operations/operation.ts'
import { isEnded, type ModelEvent, ModelTree, waits } from './model-tree.ts'

type Of<Name extends Operation['op']> = Extract<Operation, { op: Name }>

/** The expected outcome of an operation, by the model. */
export type Expected =
  | { readonly kind: 'refused'; readonly code: RefusalCode }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed'; readonly refused: readonly RefusalCode[] }

const DONE: Expected = { kind: 'changed', refused: [] }

/**
 * The effects of operations on a stream that only we write, implemented again from the description of the format, by
 * other means than the code: no journal, no drafts, a tree of plain objects.
 */
export class Model {
  #tree = new ModelTree()

  get events(): readonly ModelEvent[] {
    return this.#tree.events
  }

  get version(): number {
    return this.#tree.version
  }

  get suspendedMs(): number | undefined {
    return this.#tree.suspendedMs
  }

  /** Applies the changes in place; a refused operation changes nothing. */
  apply(operation: Operation, nowMs: number): Expected {
    const before = this.#tree
    this.#tree = before.copy()
    this.#tree.nowMs = nowMs
    const hasSettled = this.#tree.settle()
    if (operation.op === 'touch' && hasSettled) this.#tree.version += 1
    const expected = this.#do(operation)
    const isIdle = operation.op === 'settle' && !hasSettled
    if (expected.kind !== 'changed' || isIdle) {
      this.#tree = before
      return isIdle ? { kind: 'unchanged' } : expected
    }
    if (operation.op !== 'touch') {
      this.#tree.settle()
      this.#tree.version += 1
    }
    return expected
  }

  #do(operation: Operation): Expected {
    const tree = this.#tree
    if (
      operation.op === 'settle' ||
      operation.op === 'ack' ||
      operation.op === 'skip' ||
      operation.op === 'break-lease'
    )
      return DONE
    if (operation.op === 'init') return this.#init(operation)
    if (operation.op === 'append')
      return this.#signal().kind === 'changed' ? refused('no-session') : refused('already-final')
    if (operation.op === 'signal') return this.#signal()
    if (operation.op === 'suspend') return this.#suspend(operation)
    if (operation.op === 'resume') return this.#resume()
    if (operation.op === 'retry' && operation.event === undefined) return this.#retryLeaves(operation.canceled === true)
    const event = tree.find(operation.event ?? '00')
    if (event === undefined) return refused('event-not-found')
    if (operation.op === 'retry') return this.#retry(event)
    if (operation.op === 'cancel' || operation.op === 'abort') return this.#end(event, operation.op)
    if (isEnded(event)) return refused('already-final')
    return this.#work(event, operation)
  }

  #init({ root, forks, join, hold }: Of<'init'>): Expected {
    if (this.#tree.events.length > 0) return refused('exists')
    const first = this.#tree.add('00', undefined, hold ? 'init' : 'inprocess', root)
    this.#tree.heldMs = this.#tree.nowMs
    this.#tree.addBelow(first, { forks, ...(join === undefined ? {} : { join }) })
    return DONE
  }

  /** No event of the model waits for a signal: each is kept. */
  #signal(): Expected {
    const [root] = this.#tree.events
    return root === undefined || isEnded(root) ? refused('already-final') : DONE
  }

  #suspend({ stop = false }: Of<'suspend'>): Expected {
    const tree = this.#tree
    const [root] = tree.events
    if (root === undefined || isEnded(root)) return refused('already-final')
    const isTaken = (event: ModelEvent) =>
      event.status === 'inprocess' && event.owner !== undefined && !tree.below(event).some(next => !isEnded(next))
    const taken = stop ? tree.events.filter(event => !event.superseded && isTaken(event)) : []
    for (const event of taken) {
      tree.free(event)
      if (event !== root) event.status = 'init'
    }
    if (tree.isSuspended) return taken.length > 0 ? DONE : { kind: 'unchanged' }
    tree.suspendedMs = tree.nowMs
    return DONE
  }

  #resume(): Expected {
    const tree = this.#tree
    const [root] = tree.events
    if (root === undefined || isEnded(root)) return refused('already-final')
    if (!tree.isSuspended && !tree.isHeld) return tree.wasResumed ? { kind: 'unchanged' } : refused('not-suspended')
    if (tree.suspendedMs !== undefined) {
      if (!tree.isHeld) tree.goOn(tree.suspendedMs)
      tree.suspendedMs = undefined
      tree.wasResumed = true
    } else {
      this.#endHold()
      root.status = 'inprocess'
    }
    return DONE
  }

  #endHold(): void {
    this.#tree.goOn(this.#tree.heldMs ?? 0)
    this.#tree.wasResumed = true
  }

  #end(event: ModelEvent, op: 'cancel' | 'abort'): Expected {
    const status = op === 'cancel' ? 'canceled' : 'aborted'
    if (isEnded(event)) return event.status === status ? { kind: 'unchanged' } : refused('already-final')
    this.#tree.endBelow(event)
    this.#tree.end(event, status)
    return DONE
  }

  #work(event: ModelEvent, operation: Of<'start' | 'touch' | 'release' | 'advance' | 'complete' | 'fail' | 'set'>) {
    switch (operation.op) {
      case 'start':
        return this.#start(event, operation)
      case 'touch':
      case 'release':
        return this.#hold(event, operation)
      case 'set':
        return this.#claimRefusal(event, operation) ?? this.#set(event, operation)
      default:
        return this.#claimRefusal(event, operation) ?? this.#finish(event, operation)
    }
  }

  #claimRefusal(event: ModelEvent, { owner, fence }: { readonly owner?: string; readonly fence?: number }) {
    if (fence !== undefined) return event.fence === fence ? undefined : this.#fenced(event)
    return !this.#tree.isClaimed(event) || event.owner === owner ? undefined : refused('claimed')
  }

  #fenced(event: ModelEvent): Expected {
    return refused(event.fence === undefined && this.#tree.isSuspended ? 'suspended' : 'fenced')
  }

  #start(event: ModelEvent, { fence, owner, claimMs }: Of<'start'>): Expected {
    const tree = this.#tree
    if (fence !== undefined && event.fence !== fence) return this.#fenced(event)
    if (waits(event)) return refused('join-waiting')
    if (tree.isHeld && event.id !== '00') return refused('held')
    if (tree.isClaimed(event) && fence !== undefined) return { kind: 'unchanged' }
    if (tree.isSuspended) return refused('suspended')
    if (tree.isClaimed(event)) return refused('claimed')
    if (tree.isHeld) this.#endHold()
    const waitsForOthers = tree.below(event).some(next => !isEnded(next))
    if (waitsForOthers && event.status !== 'init') return refused('already-advanced')
    event.ran = true
    if (waitsForOthers) tree.free(event)
    else {
      // It was claimed, and the claim has expired.
      if (event.status === 'inprocess' && event.owner !== undefined) event.attempt = (event.attempt ?? 1) + 1
      else event.attempt ??= 1
      Object.assign(event, { owner, fence: tree.version + 1, untilMs: tree.nowMs + claimMs })
    }
    event.status = 'inprocess'
    return DONE
  }

  #hold(event: ModelEvent, operation: Of<'touch' | 'release'>): Expected {
    const refusal = this.#claimRefusal(event, operation)
    if (refusal !== undefined) return refusal
    const isHolder = event.owner !== undefined && (operation.fence !== undefined || operation.owner === event.owner)
    if (!isHolder || event.status !== 'inprocess') {
      return refused(event.owner === undefined && this.#tree.isSuspended ? 'suspended' : 'not-claimed')
    }
    if (operation.op === 'touch') {
      event.untilMs = Math.max(event.untilMs ?? 0, this.#tree.nowMs + operation.claimMs)
    } else {
      this.#tree.free(event)
      event.status = 'init'
      if (event.id === '00') this.#tree.heldMs = this.#tree.nowMs
    }
    return DONE
  }

  #set(event: ModelEvent, { attributes }: Of<'set'>): Expected {
    const { tag = event.tag, timeout = event.timeout } = attributes
    if (tag === event.tag && timeout === event.timeout) return { kind: 'unchanged' }
    Object.assign(event, { tag, timeout })
    // The time stamp of a root that was handed back is all that shows since when.
    if (event.id === '00' && event.attempt !== undefined && this.#tree.isHeld) this.#tree.heldMs = this.#tree.nowMs
    return DONE
  }

  #finish(event: ModelEvent, operation: Of<'advance' | 'complete' | 'fail'>): Expected {
    const tree = this.#tree
    if (waits(event)) return refused('join-waiting')
    const below = tree.below(event)
    if (operation.op === 'complete') {
      if (below.some(next => !isEnded(next))) return refused('open-successors')
      tree.end(event, 'completed')
    } else if (operation.op === 'fail') {
      tree.endBelow(event)
      tree.end(event, 'aborted')
    } else {
      if (below.length > 0 && operation.more !== true) return refused('already-advanced')
      if (operation.join !== undefined && below.some(waits)) return refused('join-waiting')
      tree.free(event)
      if (event.status === 'init') event.ran = true
      event.status = 'inprocess'
      tree.addBelow(event, operation)
    }
    return DONE
  }

  #retry(event: ModelEvent): Expected {
    const tree = this.#tree
    if (event.status === 'completed') return refused('already-final')
    if (!isEnded(event)) return refused('not-failed')
    const refusal = this.#reopenRefusal(event)
    if (refusal !== undefined) return refused(refusal)
    tree.endBelow(event)
    const joins = tree.joinsBeside(event)
    for (const next of tree.descendants(event)) next.superseded = true
    tree.reopen(event, joins)
    return DONE
  }

  #retryLeaves(canceled: boolean): Expected {
    const tree = this.#tree
    const failed = tree.events.filter(event => isEnded(event) && event.status !== 'completed' && !event.superseded)
    const leaves = failed.filter(event => !tree.descendants(event).some(next => failed.includes(next)))
    const withdrawn = new Set(canceled ? [] : leaves.filter(leaf => this.#isWithdrawn(leaf)))
    const refusals: RefusalCode[] = []
    let reopened = 0
    for (const leaf of leaves) {
      if (!isEnded(leaf)) continue
      const refusal = withdrawn.has(leaf)
        ? 'canceled'
        : tree.below(leaf).length > 0
          ? 'already-advanced'
          : this.#reopenRefusal(leaf)
      if (refusal !== undefined) refusals.push(refusal)
      else {
        tree.reopen(leaf, tree.joinsBeside(leaf))
        reopened += 1
      }
    }
    if (reopened > 0) return { kind: 'changed', refused: refusals }
    return refused(refusals[0] ?? 'not-failed')
  }

  /** The topmost end above it is a cancel: an operator wanted it. */
  #isWithdrawn(event: ModelEvent): boolean {
    const ended = [event, ...this.#tree.above(event)].filter(each => isEnded(each) && !each.superseded)
    return ended.findLast(({ status }) => status !== 'completed')?.status === 'canceled'
  }

  #reopenRefusal(event: ModelEvent): RefusalCode | undefined {
    const tree = this.#tree
    if ([event, ...tree.above(event)].some(({ superseded }) => superseded)) return 'not-failed'
    return tree.joinsBeside(event).some(join => tree.hasRun(join)) ? 'join-ran' : undefined
  }
}

function refused(code: RefusalCode): Expected {
  return { kind: 'refused', code }
}
