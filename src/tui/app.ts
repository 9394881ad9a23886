import { visibleText } from '../util/visible-text.ts'
import { Poll } from './data/poll/poll.ts'
import { DataStore } from './data/store.ts'
import type { Data } from './data/types.ts'
import { Effects } from './effects.ts'
import type { AppOptions, TerminalRequests } from './options.ts'
import type { ScreenContext, StoreInfo } from './state/context.ts'
import { Lists } from './state/lists/lists.ts'
import type { Action, State } from './state/state.ts'
import { initialState, update } from './state/update.ts'
import { visibleDataOf } from './state/visible-data.ts'
import { frameOf } from './view/frame.ts'
import type { Frame } from './view/row.ts'
import { detailLength } from './view/stream/detail.ts'

/** Why a frame may have to be redrawn: for user input at once, for data when convenient. */
export type RedrawCause = 'input' | 'data'

/**
 * The dashboard without its terminal: state, data and their connection. Keys, answers and time are actions; frames are
 * the output. `Effects` carries out side effects.
 */
export class App {
  readonly #options: AppOptions
  readonly #facts: StoreInfo
  readonly #store: DataStore
  readonly #poll: Poll
  readonly #lists: Lists
  readonly #effects: Effects
  readonly #listeners = new Set<(why: RedrawCause) => void>()
  #state: State
  /** The displayed data while the screen is frozen. */
  #frozen: Data | undefined

  constructor(options: AppOptions) {
    const { ports, intervalMs, filter, size, stream, writes, time } = options
    this.#options = options
    this.#facts = {
      address: visibleText(ports.address),
      isProtected: ports.isProtected,
      protectedName: ports.protectedName,
      selection: options.selection ?? '',
      version: options.version,
    }
    this.#store = new DataStore()
    this.#poll = new Poll(ports.store, this.#store, {
      intervalMs,
      explain: error => ports.explain(error),
      ...(filter?.names && { match: filter.names }),
    })
    this.#lists = new Lists(filter)
    this.#state = initialState({
      size,
      writes,
      time,
      nowMs: this.#nowMs(),
      ...(stream === undefined ? {} : { stream }),
      ...(ports.isProtected ? { protectedName: ports.protectedName } : {}),
    })
    this.#effects = new Effects(ports, this.#store, this.#poll, action => this.#apply(action, 'data'))
    this.#store.onChange(() => this.#takeData())
  }

  /** A key, a resize, an answer. Errors thrown here are bugs. */
  dispatch(action: Action): void {
    this.#apply(action, 'input')
  }

  /** The current screen. */
  frame(): Frame {
    const context = this.#context()
    this.#poll.setVisible(visibleDataOf(this.#state, context.listing, this.#store))
    return frameOf({ ...context, state: this.#state }, { isAscii: this.#options.isAscii })
  }

  /** @returns a function that removes the listener */
  onChange(listener: (why: RedrawCause) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  onRequest(terminal: TerminalRequests): void {
    this.#effects.terminal = terminal
  }

  /**
   * Polls the store until the user quits or the signal aborts; then stops running work and waits for changes in flight.
   * Store errors do not end it.
   */
  async run(signal: AbortSignal): Promise<void> {
    const end = new AbortController()
    const stop = () => end.abort()
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    const clock = setInterval(() => this.#apply({ kind: 'tick' }, 'data'), 1_000)
    try {
      this.frame()
      await Promise.race([this.#poll.run(end.signal), this.#effects.quit, aborted(end.signal)])
    } finally {
      clearInterval(clock)
      signal.removeEventListener('abort', stop)
      stop()
      await this.#effects.stop()
    }
  }

  #apply(action: Action, why: RedrawCause): void {
    const [state, effects] = update(this.#state, action, this.#context())
    this.#state = state
    if (state.frozen === undefined) this.#frozen = undefined
    else this.#frozen ??= this.#store.snapshot()
    for (const effect of effects) this.#effects.carryOut(effect)
    this.#notify(why)
  }

  /** A stream that was opened on one of its events can have its cursor now. */
  #takeData(): void {
    if (this.#state.opening === undefined) this.#notify('data')
    else this.#apply({ kind: 'opened' }, 'data')
  }

  #notify(why: RedrawCause): void {
    for (const listener of this.#listeners) listener(why)
  }

  #context(): ScreenContext {
    const data = this.#frozen ?? this.#store
    const nowMs = this.#nowMs()
    const context: ScreenContext = {
      data,
      liveRevision: this.#store.revision,
      listing: this.#lists.listing(this.#state, data, nowMs),
      facts: this.#facts,
      nowMs,
      commandFor: subject => this.#options.ports.commandFor(subject),
      detailLength: state => detailLength({ ...context, state }),
    }
    return context
  }

  /** Whole seconds: the screen shows nothing finer, so all frames of one second are the same. */
  #nowMs(): number {
    return Math.floor(this.#options.ports.store.nowMs() / 1_000) * 1_000
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
}
