import { expect, it } from 'vitest'
import { unreadStream, withUpdate } from '../../../../src/tui/data/open-stream.ts'
import type { OpenStream } from '../../../../src/tui/data/types.ts'
import { timelineRows } from '../../../../src/tui/view/stream/timeline.ts'
import { treeRows } from '../../../../src/tui/view/stream/tree.ts'
import type { WorldText } from '../support/world.ts'
import { NAME, sceneOf, storedOf, textOf } from './stream-scene.ts'

const AREA = { columns: 80, rows: 10 }
const WAITING = unreadStream(NAME, 0)

function bodies(open: OpenStream, world: WorldText = {}): string[] {
  const scene = sceneOf(open, { columns: 80, ...world })
  return [treeRows(scene, AREA), timelineRows(scene, AREA)].map(rows => textOf(rows).join('\n').trim())
}

it('a stream without visible events has the reason, and advice', () => {
  const fault = { code: 'bad-document', message: 'line 3: no \u001b end tag' }
  const unreadable = withUpdate(WAITING, { kind: 'unreadable', stored: storedOf('<a>'), fault })
  for (const body of bodies(unreadable)) {
    expect(body).toBe('this is not an event stream: line 3: no ␛ end tag\n  y shows what the blob holds')
  }
  for (const body of bodies(withUpdate(WAITING, { kind: 'missing' }))) {
    expect(body).toMatch(/^no stream has this name yet\n {2}it appears here as soon as it exists; esc goes back$/)
  }
  expect(bodies(WAITING)).toEqual(['reading it …', 'reading it …'])
  const error = { sinceMs: 0, code: 'store-unreachable', message: 'nobody answers' }
  for (const body of bodies(WAITING, { freshness: { error } })) expect(body).toMatch(/^no answer yet: nobody answers\n/)
})
