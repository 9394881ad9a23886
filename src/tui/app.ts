import { visibleText } from '../util/visible-text.ts'
import { Poll } from './data/poll/poll.ts'
import { SeveralStores } from './data/several-stores.ts'
import { DataStore } from './data/store.ts'
import type { Data, DataReader, LiveData } from './data/types.ts'
import { Effects } from './effects.ts'
import type { AppOptions, TerminalRequests } from './options.ts'
import { ColumnWidths } from './state/column-widths.ts'
import type { ScreenContext, StoreInfo } from './state/context.ts'
import { Lists } from './state/lists/lists.ts'
import type { Action, State } from './state/state.ts'
import { listOf } from './state/transition.ts'
import { initialState, update } from './state/update.ts'
import { visibleDataOf } from './state/visible-data.ts'
import type { MouseReport } from './terminal/keyboard.ts'
import { frameOf } from './view/frame.ts'
import { rowDetail } from './view/list-detail.ts'
import { pageFor } from './view/page.ts'
import type { Frame } from './view/row.ts'
import { eventDetail } from './view/stream/detail.ts'

/** Why a frame may have to be redrawn: for user input at once, for data when convenient. */
export type RedrawCause = 'input' | 'data'

/**
 * The dashboard without its terminal: state, data and their connection. Keys, answers and time are actions; frames are
 * the output. `Effects` carries out side effects.
 */
export class App {
  readonly #options: AppOptions
  readonly #facts: StoreInfo
  readonly #store: LiveData
  readonly #poll: DataReader
  readonly #lists: Lists
  readonly #widths = new ColumnWidths()
  readonly #effects: Effects
  readonly #listeners = new Set<(why: RedrawCause) => void>()
  #state: State
  #failuresSeen = 0
  /** The displayed data while the screen is frozen. */
  #frozen: Data | undefined

  constructor(options: AppOptions) {
    const { ports, filter, size, stream, sort, writes, time, bell = false } = options
    this.#options = options
    this.#facts = {
      address: visibleText(ports.address),
      contexts: ports.stores?.map(({ context }) => context) ?? [],
      isProtected: ports.isProtected,
      protectedName: ports.protectedName,
      selection: options.selection ?? '',
      version: options.version,
    }
    const source = dataOf(options)
    this.#store = source.data
    this.#poll = source.reader
    this.#lists = new Lists(filter)
    const { settings, fault } = ports.settings.read()
    this.#state = initialState({
      size,
      writes,
      time,
      bell,
      nowMs: this.#nowMs(),
      settings,
      ...(stream === undefined ? {} : { stream }),
      ...(sort && { sort }),
      ...(ports.isProtected ? { protectedName: ports.protectedName } : {}),
    })
    this.#effects = new Effects(ports, this.#store, this.#poll, action => this.#apply(action, 'data'))
    this.#store.onChange(() => this.#takeData())
    if (fault !== undefined) this.#apply({ kind: 'notice', text: fault, style: 'warn' }, 'data')
  }

  /** A key, a resize, an answer. Errors thrown here are bugs. */
  dispatch(action: Action): void {
    this.#apply(action, 'input')
  }

  /** A click or the wheel, at a cell of the current screen. */
  dispatchMouse(report: MouseReport): void {
    const row = this.#frame(false).rows[report.row]
    const text = row?.spans.map(([part]) => part).join('') ?? ''
    this.#apply({ kind: 'mouse', ...report, text, key: row?.key, titles: row?.titles }, 'input')
  }

  /** The current screen. */
  frame(): Frame {
    return this.#frame(this.#options.isAscii)
  }

  #frame(isAscii = false): Frame {
    const { screen, stream } = this.#state
    const { filter, onlyBroken } = listOf(this.#state)
    this.#widths.show(JSON.stringify([screen, screen === 'stream' && stream, filter, onlyBroken]))
    const context = this.#context()
    this.#poll.setVisible(visibleDataOf(this.#state, context.listing, this.#store))
    return frameOf({ ...context, state: this.#state }, { isAscii })
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

  /** A stream may have failed; one that was opened on one of its events can have its cursor now. */
  #takeData(): void {
    const { failures } = this.#store
    const count = failures.count - this.#failuresSeen
    this.#failuresSeen = failures.count
    if (count > 0 && failures.latest !== undefined)
      this.#apply({ kind: 'failed', count, latest: failures.latest }, 'data')
    else if (this.#state.opening !== undefined) this.#apply({ kind: 'opened' }, 'data')
    else this.#notify('data')
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
      widths: this.#widths,
      nowMs,
      listingFor: state => this.#lists.listing(state, data, nowMs),
      commandFor: subject => this.#options.ports.commandFor(subject),
      detailOf: state => (state.screen === 'stream' ? eventDetail : rowDetail)({ ...context, state }),
      pageOf: (state, subject) => pageFor({ ...context, state }, subject),
    }
    return context
  }

  /** Whole seconds: the screen shows nothing finer, so all frames of one second are the same. */
  #nowMs(): number {
    return Math.floor(this.#options.ports.store.nowMs() / 1_000) * 1_000
  }
}

/** The data of the store, or of several, and what reads it. */
function dataOf({ ports, intervalMs, filter }: AppOptions): { readonly data: LiveData; readonly reader: DataReader } {
  const options = {
    intervalMs,
    explain: (error: unknown) => ports.explain(error),
    ...(filter?.names && { match: filter.names }),
  }
  if (ports.stores !== undefined) {
    const several = new SeveralStores(ports.stores, options)
    return { data: several, reader: several }
  }
  const data = new DataStore()
  return { data, reader: new Poll(ports.store, data, options) }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
}
