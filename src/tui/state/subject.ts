import type { OpenStream, TreeNode } from '../data/types.ts'
import type { Subject } from '../ports.ts'
import type { World } from './context.ts'
import { cursorKey } from './cursor.ts'
import type { State } from './state.ts'
import { listOf } from './transition.ts'

/** The stream of the row under the cursor, on the screens that list streams or what belongs to one. */
export function streamUnderCursor(state: State, world: World): string | undefined {
  const key = cursorKey(state, world)
  if (key === undefined || state.screen !== 'activity') return key
  return world.data.activity.items.find(item => item.key === key)?.stream
}

/** What is known of the stream of the second screen; `undefined` while that is still another one. */
export function openStreamOf(state: State, { data }: Pick<World, 'data'>): OpenStream | undefined {
  return data.open?.name === state.stream ? data.open : undefined
}

/** The tree node under the cursor. */
function nodeUnderCursor(state: State, world: World): TreeNode | undefined {
  const key = cursorKey(state, world)
  return key === undefined ? undefined : openStreamOf(state, world)?.nodes.find(node => node.key === key)
}

/** What the command line that shows the same is about. */
export function subjectOf(state: State, world: World): Subject {
  const { screen, pane, stream } = state
  if (screen === 'streams') return { kind: 'streams', filter: listOf(state).filter }
  if (screen !== 'stream') return { kind: screen }
  const node = pane === 'tree' ? nodeUnderCursor(state, world) : undefined
  if (node === undefined || isRoot(node, openStreamOf(state, world))) return { kind: 'stream', stream, pane }
  return { kind: 'event', stream, event: node.id }
}

/** Stands for the stream as a whole. */
export function isRoot({ id }: TreeNode, open: OpenStream | undefined): boolean {
  return id === open?.nodes[0]?.id
}
