import type { Scene } from '../../../../src/tui/state/context.ts'
import { Lists } from '../../../../src/tui/state/lists/lists.ts'
import type { Size, State } from '../../../../src/tui/state/state.ts'
import { type EventText, Play } from '../../../support/stream-builder.ts'
import { openStream } from './open-stream.ts'
import { sceneWith } from './scenes.ts'
import { NOW_MS } from './world.ts'

/** An import of 2 000 rows: one has failed, one runs. */
export function wideScene(size: Size): Scene {
  const rows = Array.from({ length: 2_000 }, (_, at): EventText => {
    const status = at === 700 ? 'aborted' : at === 900 ? 'inprocess' : at % 40 === 39 ? 'completed' : 'init'
    return { id: `${at + 1}.00`, name: 'Row', prev: '00', status, ...(at === 700 && { msg: 'duplicate key' }) }
  })
  return treeScene([{ id: '00', name: 'Import', status: 'inprocess' }, ...rows], '00\u0000init', size)
}

/** 45 levels, each with one more event. */
export function deepScene(size: Size): Scene {
  const thread = (at: number) => '01.'.repeat(at)
  const levels = Array.from({ length: 45 }, (_, at): EventText => {
    const below = at < 44 ? [`${thread(at + 1)}00`] : []
    const id = at === 0 ? '00' : `${thread(at)}00`
    return { id, name: `Level ${at}`, status: 'inprocess', next: [...below, `${thread(at)}02`].join('|') }
  })
  const others = levels.map((_, at): EventText => ({ id: `${thread(at)}02`, name: 'Other', status: 'init' }))
  return treeScene([...levels, ...others], `${thread(30)}00`, size)
}

/** An hour of work, and a retry a day later. */
export function dayLaterScene(size: Size): Scene {
  const play = new Play()
  play.nowMs = NOW_MS - 91_320_000
  const start = (owner: string) => ({ op: 'start', event: '01.00', owner, claimMs: 2_400_000 }) as const
  play.do({ op: 'init', root: { name: 'Start' }, forks: [{ name: 'Load', timeout: '00:40:00' }, { name: 'Check' }] })
  play.wait(600_000).do(start('w-1'))
  play.wait(2_400_000).do(start('w-2'))
  play.wait(300_000).do({ op: 'fail', event: '01.00', owner: 'w-2', msg: 'no rows' })
  play.wait(300_000).do({ op: 'complete', event: '02.00' })
  play.wait(86_400_000).do({ op: 'retry', event: '01.00' })
  play.wait(120_000).do(start('w-3'))
  return treeScene(play, '01.00', size, { pane: 'timeline' })
}

function treeScene(given: Play | readonly EventText[], cursor: string, size: Size, more: Partial<State> = {}): Scene {
  const open = openStream('s', given)
  const scene = sceneWith({ size, open, state: { screen: 'stream', stream: 's', ...more } })
  const stream = { ...scene.state.lists.stream, cursor, offset: 6 }
  const state = { ...scene.state, lists: { ...scene.state.lists, stream } }
  return { ...scene, state, listing: new Lists().listing(state, scene.data, NOW_MS) }
}
