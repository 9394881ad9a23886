import type { DataStore } from '../../src/tui/data/store.ts'
import { ColumnWidths } from '../../src/tui/state/column-widths.ts'
import type { ScreenContext } from '../../src/tui/state/context.ts'
import { Lists } from '../../src/tui/state/lists/lists.ts'
import type { Action, State } from '../../src/tui/state/state.ts'
import { initialState, update } from '../../src/tui/state/update.ts'
import { frameOf } from '../../src/tui/view/frame.ts'
import type { Frame } from '../../src/tui/view/row.ts'

export const SIZE = { columns: 160, rows: 48 }

/** The dashboard on data fed by a bench: everything except reading a store and changing streams. */
export class TopApp {
  readonly data: DataStore
  readonly #lists = new Lists()
  readonly #widths = new ColumnWidths()
  readonly #tell: (why: 'data' | 'input') => void
  #state: State

  /** @param stream the open stream; without it the list of streams is shown */
  constructor(data: DataStore, stream: string | undefined, tell: (why: 'data' | 'input') => void) {
    this.data = data
    this.#tell = tell
    const start = { size: SIZE, writes: 'locked', time: 'relative', nowMs: nowMs() } as const
    this.#state = initialState(stream === undefined ? start : { ...start, stream })
    data.onChange(() => tell('data'))
  }

  dispatch(action: Action): void {
    const [state] = update(this.#state, action, this.#world())
    this.#state = state
    this.#tell('input')
  }

  frame(): Frame {
    return frameOf({ ...this.#world(), state: this.#state })
  }

  #world(): ScreenContext {
    return {
      data: this.data,
      liveRevision: this.data.revision,
      listing: this.#lists.listing(this.#state, this.data, nowMs()),
      facts: {
        address: 'memory:bench',
        contexts: [],
        isProtected: false,
        protectedName: '',
        selection: '',
        version: '0.0.0',
      },
      widths: this.#widths,
      nowMs: nowMs(),
      listingFor: state => this.#lists.listing(state, this.data, nowMs()),
      commandFor: () => '',
      detailOf: () => undefined,
      pageOf: () => undefined,
    }
  }
}

/** In whole seconds, like the dashboard. */
function nowMs(): number {
  return Math.floor(Date.now() / 1_000) * 1_000
}
