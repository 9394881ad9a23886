import type { JournalEntry, StreamView } from '../../ops/read-stream.ts'
import type { DeliveryRules } from '../../subscriptions/deliver.ts'
import type { Delivery, DeliveryResult, Handled } from '../../subscriptions/types.ts'
import type { Timing } from '../../util/clock.ts'
import type { Expiry } from '../decision.ts'
import type { DeliveryAttempt, DeliveryReport } from './attempt.ts'
import { runCommand } from './command.ts'
import { documentOf, environmentOf, eventIn, type HookEvent, isForeign, noticeOf } from './events.ts'
import type { HookOptions } from './options.ts'
import type { HookPositions } from './positions.ts'
import { type Hook, labelOf } from './target.ts'
import { postWebhook } from './webhook.ts'

/** Tolerated error of the clocks of foreign writers. */
const FOREIGN_MARGIN_MS = 10 * 60_000

export interface DeliveryOptions extends HookOptions {
  readonly timing: Timing
  readonly read: (stream: string) => Promise<StreamView | undefined>
}

/** What a hook is told of a stream, and how. */
export class HookDelivery {
  readonly #hook: Hook
  readonly #positions: HookPositions
  readonly #options: DeliveryOptions
  readonly #stopping: AbortSignal
  readonly #notices = new WeakMap<JournalEntry, Expiry>()
  readonly #attempts = new WeakMap<Delivery, DeliveryAttempt>()
  /** Since when the target only fails, monotonic ms. */
  #failingSinceMs: number | undefined

  /** @param stopping aborts when no further attempt is started */
  constructor(hook: Hook, positions: HookPositions, options: DeliveryOptions, stopping: AbortSignal) {
    this.#hook = hook
    this.#positions = positions
    this.#options = options
    this.#stopping = stopping
  }

  readonly rules: DeliveryRules = {
    isWanted: (view, entry) => {
      const event = this.#eventOf(view, entry)
      if (event === undefined) return false
      if (!this.#positions.isTold(event)) return true
      this.#positions.told(event, false)
      return false
    },
    asFound: {
      read: stream => this.#options.read(stream),
      idOf: (view, entry) => this.#eventOf(view, entry)?.id ?? '',
      notices: view =>
        this.#positions.noticesOf(view.name).map(due => {
          const entry = entryOf(due)
          this.#notices.set(entry, due)
          return entry
        }),
      noticed: shard => this.#positions.noticed(shard),
      handled: (view, entry) => {
        const event = this.#eventOf(view, entry)
        if (event !== undefined) this.#positions.told(event, entry.provisional || isForeign(entry))
      },
      gone: stream => this.#positions.forget(stream),
    },
  }

  readonly handle = async (delivery: Delivery, abort: AbortSignal): Promise<Handled> => {
    const { limits: { retryForMs = Number.POSITIVE_INFINITY } = {}, timing } = this.#options
    const startedMs = timing.monotonicMs()
    if (startedMs - (this.#failingSinceMs ?? startedMs) > retryForMs) return { kind: 'stopped' }
    const message = this.#messageOf(delivery)
    if (message === undefined) return { kind: 'handled' }
    const attempt = await this.#send(delivery.id, message, abort)
    const { kind, code: why, retryAfterMs } = attempt
    this.#attempts.set(delivery, attempt)
    // A target that rejects a document does answer.
    if (kind === 'delivered' || kind === 'hopeless') this.#failingSinceMs = undefined
    else this.#failingSinceMs ??= startedMs
    if (kind === 'delivered') return { kind: 'handled' }
    if (kind === 'stopped') return { kind: 'stopped' }
    return { kind: 'failed', why, hopeless: kind === 'hopeless', ...(retryAfterMs !== undefined && { retryAfterMs }) }
  }

  /** Reports an attempt. */
  readonly ended = ({ delivery, outcome, tookMs }: DeliveryResult): void => {
    const attempt = this.#attempts.get(delivery)
    if (attempt === undefined) return
    const { kind, target } = this.#hook
    this.#options.onDelivery?.({
      kind,
      stream: delivery.stream,
      deliveryId: delivery.id,
      target: labelOf(target),
      outcome: this.#outcomeOf(outcome, attempt),
      tries: delivery.attempt,
      tookMs,
      code: attempt.code,
      output: attempt.output,
    })
  }

  #outcomeOf(outcome: DeliveryResult['outcome'], { kind }: DeliveryAttempt): DeliveryReport['outcome'] {
    if (kind === 'delivered') return 'delivered'
    if (outcome === 'skipped') return 'given-up'
    return outcome === 'waiting' && !this.#stopping.aborted ? 'retrying' : 'left'
  }

  #eventOf(view: StreamView, entry: JournalEntry): HookEvent | undefined {
    const { address: store } = this.#options.store
    const due = this.#notices.get(entry)
    if (due !== undefined) return noticeOf(view, due, store)
    const foreignSinceMs = this.#positions.sinceMs(view.name) - FOREIGN_MARGIN_MS
    return eventIn(view, entry, this.#hook.kind, { store, foreignSinceMs })
  }

  /** `undefined` if it cannot be encoded: one stream must not block all others. */
  #messageOf({ view, transaction, stream }: Delivery) {
    const { store, format, environment: own, onTrouble } = this.#options
    const event = this.#eventOf(view, transaction)
    if (event === undefined) return undefined
    try {
      const text = documentOf(event, store.address, format)
      return { text, environment: environmentOf(event, store.address, own) }
    } catch (error) {
      onTrouble?.(`${stream} cannot be delivered to hooks`, error)
      return undefined
    }
  }

  async #send(
    id: string,
    { text, environment }: { readonly text: string; readonly environment: Readonly<Record<string, string>> },
    stop: AbortSignal,
  ): Promise<DeliveryAttempt> {
    const { target } = this.#hook
    const { timing, store, userAgent } = this.#options
    if (target.kind === 'command') return runCommand(target, { text, environment, timing, stop })
    return postWebhook(target, { id, body: text, userAgent, nowMs: store.nowMs(), timing, stop })
  }
}

/** A notice in the place of a transaction: it has no version. */
function entryOf({ event, commandId, message, dueMs }: Expiry): JournalEntry {
  const at = new Date(dueMs).toISOString()
  const rest = { version: 0, provisional: true, by: '', hash: '', other: false, changes: [] }
  return { ...rest, at, op: 'notify', on: event, commandId, why: message }
}
