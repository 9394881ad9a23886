import { counted } from '../../formats/terminal/count-text.ts'
import type { ChangeTarget, ChangeVerb } from '../ports.ts'
import type { World } from './context.ts'
import { cursorKey } from './cursor.ts'
import type { State } from './state.ts'
import { isRoot, openStreamOf } from './subject.ts'
import { listOf } from './transition.ts'

/** What a change is about: all that is marked on this screen, else the row under the cursor. */
export interface Targets {
  readonly targets: readonly ChangeTarget[]
  /** What is left out, or why there is nothing. */
  readonly note: string | undefined
}

export function targetsOf(state: State, world: World, verb: ChangeVerb): Targets {
  return state.screen === 'stream' ? inStream(state, world, verb) : ofStreams(state, world)
}

function ofStreams(state: State, world: World): Targets {
  const { marks } = listOf(state)
  const names = marks.size > 0 ? [...marks] : [cursorKey(state, world)].filter(name => name !== undefined)
  const there = names.filter(name => world.data.streams.get(name) !== undefined)
  return told(
    there.map(stream => ({ stream })),
    names.length - there.length,
    'stream',
  )
}

/** The root stands for the whole stream, of which a lease is too. The XML has no cursor: it shows the whole. */
function inStream(state: State, world: World, verb: ChangeVerb): Targets {
  const open = openStreamOf(state, world)
  const { stream, pane } = state
  if (open === undefined || !HAS_STREAM.has(open.presence)) return { targets: [], note: 'there is no stream to change' }
  if (verb === 'break' || pane === 'xml' || open.nodes.length === 0) return { targets: [{ stream }], note: undefined }
  const { marks } = listOf(state)
  const cursor = cursorKey(state, world)
  const keys = marks.size > 0 ? marks : new Set(cursor === undefined ? [] : [cursor])
  const nodes = open.nodes.filter(node => keys.has(node.key))
  if (nodes.some(node => isRoot(node, open))) return told([{ stream }], keys.size - nodes.length, 'event')
  const events = new Set(nodes.map(node => node.id))
  return told(
    Array.from(events, event => ({ stream, event })),
    keys.size - nodes.length,
    'event',
  )
}

const HAS_STREAM: ReadonlySet<string> = new Set(['there', 'unreadable'])

function told(targets: readonly ChangeTarget[], gone: number, what: string): Targets {
  if (gone > 0) return { targets, note: `${counted(gone, what)} left out: not there any more` }
  return { targets, note: targets.length === 0 ? `no ${what} under the cursor` : undefined }
}
