import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { detailRows } from '../../../../src/tui/view/stream/detail.ts'
import { streamHeader } from '../../../../src/tui/view/stream/header.ts'
import { tailRows } from '../../../../src/tui/view/stream/journal.ts'
import { timelineRows } from '../../../../src/tui/view/stream/timeline.ts'
import { treeRows } from '../../../../src/tui/view/stream/tree.ts'
import { xmlRows } from '../../../../src/tui/view/stream/xml.ts'
import { type EventText, Play, spec } from '../../../support/stream-builder.ts'
import { opened, sceneOf, textOf, widest } from './stream-scene.ts'

const VIEWS = { treeRows, detailRows, tailRows, timelineRows, xmlRows }

/** Characters for which terminals and programs differ, as far as XML allows them. */
const strange = fc
  .array(
    fc.constantFrom(
      'a',
      ' ',
      '漢',
      '😀',
      '👨‍👩‍👧',
      '\u202e',
      '\u200d',
      '\ufe0f',
      'e\u0301',
      '\u0915\u094d',
      '\u009b2J',
      '🇩🇪',
      '\t',
      '12:00',
    ),
    { maxLength: 40 },
  )
  .map(parts => parts.join(''))

const eventWith = (id: string) =>
  fc.record({
    id: fc.constant(id),
    name: strange,
    status: fc.constantFrom('init', 'inprocess', 'aborted', 'paused \u202e', ''),
    prev: id === '00' ? fc.constant('') : fc.constantFrom('', '00', '01', '02', id),
    next: fc.constantFrom('', '00', '01|02', '99'),
    msg: strange,
    topic: strange,
    key: strange,
    timeout: fc.constantFrom('', '00:00:01', '99999999.00:00:00', 'soon', '2024-05-01T12:00:00Z'),
    created: fc.constantFrom('', '2024-05-01T11:00:00Z', '9999-12-31T23:59:59Z', 'once'),
    'lc:owner': strange,
    'lc:until': fc.constantFrom('2024-05-01T12:10:00Z', '?'),
  })

const events = fc.tuple(eventWith('00'), eventWith('01'), eventWith('02'), eventWith('a.b.漢字'))

const STEERING = /[\u0000-\u001f\u007f-\u009f]|\u200d|\u202e|\ufe0f/

describe('for any document', () => {
  it('no row is wider than its area, no text controls the terminal, no frame fails', () => {
    fc.assert(
      fc.property(
        events,
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 0, max: 20 }),
        fc.boolean(),
        fc.constantFrom('relative', 'local', 'utc'),
        (some, columns, rows, isWide, time) => {
          const open = opened(some as readonly EventText[])
          const scene = sceneOf(open, { columns, height: rows + 4, state: { isWide, time }, list: { cursor: '01' } })
          for (const view of Object.values(VIEWS)) {
            const drawn = view(scene, { columns, rows })
            expect(drawn).toHaveLength(rows)
            expect(widest(drawn)).toBeLessThanOrEqual(columns)
            expect(textOf(drawn).join('')).not.toMatch(STEERING)
          }
          expect(widest([streamHeader(scene)])).toBeLessThanOrEqual(columns)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('foreign reasons and authors are safe in the journal', () => {
    const play = new Play().after({ op: 'init', root: spec('Start'), forks: [spec('A')] })
    play.do({ op: 'fail', event: '01.00', msg: '\u202e漢' }, { by: 'w\u202e👨‍👩‍👧', why: '\u009b2J漢字' })
    const scene = sceneOf(opened(play), { columns: 50, list: { cursor: '01.00' } })
    const drawn = [...tailRows(scene, { columns: 50, rows: 5 }), ...detailRows(scene, { columns: 50, rows: 12 })]
    expect(widest(drawn)).toBeLessThanOrEqual(50)
    expect(textOf(drawn).join('')).not.toMatch(STEERING)
  })
})
