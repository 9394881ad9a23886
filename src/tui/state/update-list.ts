import { counted, countText } from '../../formats/terminal/count-text.ts'
import type { World } from './context.ts'
import { cursorIndex, cursorKey, movedBy, movedTo } from './cursor.ts'
import { SORTS, type Sort, type State } from './state.ts'
import { listOf, noted, withList } from './transition.ts'

/** Marks the row under the cursor, or takes the mark away, and goes one down. */
export function marked(state: State, world: World): State {
  const key = cursorKey(state, world)
  if (key === undefined) return state
  const marks = new Set(listOf(state).marks)
  if (!marks.delete(key)) marks.add(key)
  return movedBy(withList(state, { marks }), world, 1)
}

/** Marks all rows that pass the filter, and says how many. */
export function markedAll(state: State, world: World): State {
  const { keys, isFaint } = passing(world)
  const rows = keys.filter(key => !isFaint(key))
  const marks = new Set([...listOf(state).marks, ...rows])
  const inAll = marks.size > rows.length ? `, ${countText(marks.size)} in all` : ''
  const soFar = state.screen === 'streams' && !world.data.streams.isComplete ? '; the list is not complete yet' : ''
  return noted(withList(state, { marks }), world, `marked ${counted(rows.length, 'row')}${inAll}${soFar}`)
}

export function withoutMarks(state: State): State {
  return listOf(state).marks.size === 0 ? state : withList(state, { marks: new Set() })
}

/** To the next row that passes the filter, or to the one before, beyond the ends too. */
export function matched(state: State, world: World, by: 1 | -1): State {
  if (listOf(state).filter === '') return noted(state, world, 'no filter: / sets one')
  const { keys, isFaint } = passing(world)
  const from = cursorIndex(state, world)
  for (let step = 1; step <= keys.length; step++) {
    const at = (from + by * step + keys.length) % keys.length
    const key = keys[at]
    if (key !== undefined && !isFaint(key)) return movedBy(state, world, at - from)
  }
  return noted(state, world, 'nothing matches the filter')
}

/** By the next column; behind the last one stands the first again, the usual order. */
export function sortedByNext(state: State, world: World): State {
  const columns: readonly string[] = SORTS[state.screen]
  const by = columns[columns.indexOf(sortOf(state).by) + 1]
  const sort = by === undefined ? undefined : { by, isDescending: false }
  return withSort(state, world, sort)
}

/** Turns the order round. */
export function reversed(state: State, world: World): State {
  const { by, isDescending } = sortOf(state)
  return withSort(state, world, { by, isDescending: !isDescending })
}

function sortOf(state: State): Sort {
  return listOf(state).sort ?? { by: SORTS[state.screen][0] ?? '', isDescending: false }
}

function withSort(state: State, world: World, sort: Sort | undefined): State {
  const next = withList(state, { sort })
  const { by, isDescending } = sortOf(next)
  return noted(next, world, `sorted by ${by}${isDescending ? ', turned round' : ''}`)
}

/** To the first row or the last. */
export function movedToEnd(state: State, world: World, end: 'first' | 'last'): State {
  return end === 'first' ? movedTo(state, world, 0, 0) : movedTo(state, world, world.listing.keys.length - 1, Infinity)
}

function passing({ listing }: World) {
  return { keys: listing.keys, isFaint: (key: string) => listing.isFaint(key) }
}
