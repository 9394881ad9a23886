import { widthOf } from '../../../../src/formats/terminal/width.ts'
import { viewOf } from '../../../../src/ops/read-stream.ts'
import type { StreamSnapshot } from '../../../../src/store/store.ts'
import { unreadStream, withUpdate } from '../../../../src/tui/data/open-stream.ts'
import type { OpenStream } from '../../../../src/tui/data/types.ts'
import type { Scene } from '../../../../src/tui/state/context.ts'
import { initialState } from '../../../../src/tui/state/initial-state.ts'
import type { ListState, State } from '../../../../src/tui/state/state.ts'
import type { ScreenRow } from '../../../../src/tui/view/row.ts'
import { documentText, type EventText, Play, START_MS, spec } from '../../../support/stream-builder.ts'
import { listingOf, type WorldText, worldWith } from '../support/world.ts'

export const NAME = 'orders/4711'

/** A stream of real documents in the form of the second screen. */
export function opened(given: Play | string | readonly EventText[], nowMs: number = START_MS): OpenStream {
  const stored = storedOf(given)
  const at = given instanceof Play ? given.nowMs : nowMs
  return withUpdate(unreadStream(NAME, 0), { kind: 'view', view: viewOf(stored, at) })
}

export function storedOf(
  given: Play | string | readonly EventText[],
  lease: StreamSnapshot['lease'] = { state: 'available' },
): StreamSnapshot {
  const text = typeof given === 'string' ? given : given instanceof Play ? given.text : documentText(...given)
  const body = Buffer.from(text)
  return { name: NAME, etag: '"1"', size: body.length, modifiedMs: START_MS, lease, body, versionFloor: 0 }
}

export interface SceneText extends WorldText {
  readonly columns: number
  readonly height?: number
  readonly state?: Partial<State>
  readonly list?: Partial<ListState>
}

/** The second screen for a stream, with all rows of its tree. */
export function sceneOf(open: OpenStream | undefined, text: SceneText): Scene {
  const { columns, height = 24, state, list, ...world } = text
  const size = { columns, rows: height }
  const first = initialState({ size, writes: 'locked', time: 'relative', nowMs: START_MS, stream: NAME })
  const shown = { ...first.lists.stream, ...list }
  return {
    ...worldWith({ open, rows: listingOf((open?.nodes ?? []).map(({ key }) => key)), ...world }),
    state: {
      ...first,
      screen: 'stream',
      stream: NAME,
      ...state,
      lists: { ...first.lists, ...state?.lists, stream: shown },
    },
  }
}

/** Rows as text, trailing blanks removed. */
export function textOf(rows: readonly ScreenRow[]): string[] {
  return rows.map(({ spans }) =>
    spans
      .map(([text]) => text)
      .join('')
      .trimEnd(),
  )
}

/** The widest of the rows, in columns. */
export function widest(rows: readonly ScreenRow[]): number {
  return Math.max(0, ...rows.map(({ spans }) => spans.reduce((sum, [text]) => sum + widthOf(text), 0)))
}

const SECOND = 1_000

/** Branches that have run, failed and wait, and a join: the moment of the screenshot in the manual. */
export function searchOrder(): Play {
  const search = (name: string) => spec(name, { timeout: '00:01:00', topic: 'search' })
  const play = new Play().after({
    op: 'init',
    root: spec('OrderStart', { timeout: '00:10:00', key: '4711' }),
    forks: [spec('SearchStart'), spec('SearchStart'), spec('SearchStart')],
    join: spec('OrderDone'),
  })
  play.wait(SECOND).after({ op: 'start', event: '01.00', owner: 'worker-1' })
  play.wait(20 * SECOND).after({
    op: 'advance',
    event: '01.00',
    owner: 'worker-1',
    forks: [search('Search'), search('Search'), search('Search'), search('Search')],
    join: spec('SearchDone'),
  })
  play.wait(5 * SECOND).after({ op: 'start', event: '01.01.00', owner: 'worker-2' })
  play.after({ op: 'start', event: '01.02.00', owner: 'worker-7' })
  play
    .wait(10 * SECOND)
    .do(
      { op: 'complete', event: '01.01.00', owner: 'worker-2', msg: '12 results' },
      { by: 'worker-2', why: '12 results' },
    )
  play.do({ op: 'fail', event: '03.00', msg: 'no answer from the supplier' }, { by: 'worker-3', why: 'no answer' })
  return play.wait(28 * SECOND)
}
