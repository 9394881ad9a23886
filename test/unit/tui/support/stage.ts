import type { ChangeVerb, Outcome, Preview } from '../../../../src/tui/ports.ts'
import type { Listing, ScreenContext } from '../../../../src/tui/state/context.ts'
import { Lists } from '../../../../src/tui/state/lists/lists.ts'
import type { Action, Effect, KeyPress, State } from '../../../../src/tui/state/state.ts'
import { initialState, update } from '../../../../src/tui/state/update.ts'
import { listingOf, NOW_MS, worldWith } from './world.ts'

type Options = Partial<Parameters<typeof initialState>[0]>

/** The dashboard with fixed data: keys go in, the state and the requested effects come out. */
export class Stage {
  state: State
  world: ScreenContext
  /** All effects so far. */
  readonly effects: Effect[] = []
  nowMs = NOW_MS

  constructor(world: ScreenContext = worldWith(), options: Options = {}) {
    this.world = world
    const size = { columns: 120, rows: 40 }
    this.state = initialState({ size, writes: 'locked', nowMs: NOW_MS, time: 'relative', ...options })
  }

  /** Presses keys by their names, or by the characters that they type. */
  press(...keys: readonly string[]): this {
    for (const key of keys) this.act({ kind: 'key', press: pressOf(key) })
    return this
  }

  /** Types a text, character by character. */
  type(text: string): this {
    return this.press(...Array.from(text, character => (character === ' ' ? 'space' : character)))
  }

  act(action: Action): this {
    const [state, effects] = update(this.state, action, this.seen)
    this.state = state
    this.effects.push(...effects)
    return this
  }

  /** The view of the state: rows of its screen. */
  get seen(): ScreenContext {
    return {
      ...this.world,
      nowMs: this.nowMs,
      listing: rowsOf(this.state, this.world),
      listingFor: state => rowsOf(state, this.world),
    }
  }

  wait(ms: number): this {
    this.nowMs += ms
    return this.act({ kind: 'tick' })
  }

  /** The answer to the last requested preview. */
  previewed(more: Partial<Preview> = {}, request = this.state.requests): this {
    return this.act({ kind: 'previewed', request, preview: previewOf('cancel', more) })
  }

  get list() {
    return this.state.lists[this.state.screen]
  }

  /** The name under the cursor. */
  get cursor(): string | undefined {
    const { keys, indexOf } = this.seen.listing
    const { cursor, index } = this.list
    const at = cursor === undefined ? 0 : indexOf(cursor)
    return keys[Math.min(at < 0 ? index : at, keys.length - 1)]
  }

  get notice(): string | undefined {
    return this.state.notice?.text
  }

  effectsOf<Kind extends Effect['kind']>(kind: Kind): Extract<Effect, { kind: Kind }>[] {
    return this.effects.filter((effect): effect is Extract<Effect, { kind: Kind }> => effect.kind === kind)
  }
}

export function pressOf(key: string): KeyPress {
  if (key === 'space') return { key, text: ' ' }
  return { key, text: Array.from(key).length === 1 ? key : undefined }
}

export function previewOf(verb: ChangeVerb, more: Partial<Preview> = {}): Preview {
  return {
    verb,
    question: 'This cancels 1 stream',
    affected: [],
    more: 0,
    facts: [],
    count: 1,
    command: reason => `leasectl ${verb} a${reason === '' ? '' : ` -m '${reason}'`}`,
    confirm: { kind: 'yes' },
    ...more,
  }
}

export function outcomeOf(stream: string, word = 'done'): Outcome {
  return { target: { stream }, word, isGood: word === 'done', text: word }
}

/** Rows like those of a screen: a filter is one word, folded ones are omitted. Other screens have the world's rows. */
function rowsOf(state: State, world: ScreenContext): Listing {
  const { filter } = state.lists[state.screen]
  if (state.screen === 'activity') return listingOf(world.data.activity.items.map(({ key }) => key))
  if (state.screen === 'subscriptions' || state.screen === 'inboxes')
    return new Lists().listing(state, world.data, NOW_MS)
  if (state.screen === 'workers') return listingOf(world.data.workers.rows.map(({ key }) => key))
  if (state.screen !== 'stream') return filteredRows(world.listing, filter)
  const { open } = world.data
  return listingOf(open?.name === state.stream ? treeKeys(state, open.nodes, filter) : [])
}

function filteredRows({ keys, isFaint }: Listing, filter: string): Listing {
  const seen = keys.filter(key => key.includes(filter) || isFaint(key))
  return listingOf(seen, { faint: seen.filter(isFaint) })
}

function treeKeys(
  { folded }: State,
  nodes: NonNullable<ScreenContext['data']['open']>['nodes'],
  filter: string,
): string[] {
  const keys: string[] = []
  for (let at = 0; at < nodes.length; ) {
    const node = nodes[at]
    if (node === undefined) break
    if (filter === '' || node.key.includes(filter)) keys.push(node.key)
    at = folded.has(node.key) ? node.end : at + 1
  }
  return keys
}
