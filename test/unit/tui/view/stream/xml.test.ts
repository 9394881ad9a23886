import { describe, expect, it } from 'vitest'
import { unreadStream, withUpdate } from '../../../../../src/tui/data/open-stream.ts'
import type { OpenStream } from '../../../../../src/tui/data/types.ts'
import { textLayout } from '../../../../../src/tui/state/text/layout.ts'
import { START_DOCUMENT, START_READING } from '../../../../../src/tui/state/text/text.ts'
import { xmlText } from '../../../../../src/tui/state/text/xml.ts'
import { xmlRows } from '../../../../../src/tui/view/stream/xml.ts'
import { NAME, opened, sceneOf, searchOrder, storedOf, textOf, widest } from '../stream-scene.ts'

function linesOf(open: OpenStream, columns: number, rows: number, top = 0, wraps = false): string[] {
  const xml = { ...START_DOCUMENT, top, wraps }
  const drawn = xmlRows(sceneOf(open, { columns, state: { pane: 'xml', xml } }), { columns, rows })
  expect(drawn).toHaveLength(rows)
  expect(widest(drawn)).toBeLessThanOrEqual(columns)
  return textOf(drawn)
}

/** A document that is not XML, unchanged. */
function raw(text: string): OpenStream {
  const fault = { code: 'bad-document', message: 'line 1: not an event stream' }
  return withUpdate(unreadStream(NAME, 0), { kind: 'unreadable', stored: storedOf(text), fault })
}

describe('the XML view of the stored document', () => {
  it('has numbered lines from the scroll position, cut at the width', () => {
    expect(linesOf(opened(searchOrder()), 60, 3, 1)).toEqual([
      '   2▾ <EventStream xmlns:lc="urn:leasectl:v1" lc:v="7" lc:b…',
      '   3    <Event name="OrderStart" status="inprocess" id="00"…',
      '   4    <Event name="SearchStart" status="inprocess" id="01…',
    ])
  })

  it('cuts nothing in the wide form: a line has as many rows as it needs', () => {
    const open = opened(searchOrder())
    const all = textLayout(xmlText(open), 60, START_READING)
    const lines = linesOf(open, 60, all.total, 0, true)
    expect(lines.join('\n')).not.toContain('…')
    const shown = lines
      .map(line => line.slice(6))
      .join('')
      .replace(/\s/g, '')
    expect(shown).toBe(open.text.join('').replace(/\s/g, ''))
  })

  it('has the reason above an unreadable document', () => {
    expect(linesOf(raw('not <xml\nat all\u001b[2J'), 60, 4)).toEqual([
      '? line 1: not an event stream (bad-document)',
      '›  1  not <xml',
      '   2  at all␛[2J',
      '',
    ])
  })

  it('shows one line of a megabyte to its end', () => {
    const open = raw(`${'0123456789'.repeat(100_000)}END`)
    const { total } = textLayout(xmlText(open), 80, START_DOCUMENT)
    expect(total).toBe(Math.ceil(1_000_003 / 74))
    expect(linesOf(open, 80, 10, total - 9)[9]).toMatch(/END$/)
    expect(linesOf(open, 80, 10, total * 2)[9]).toMatch(/END$/)
  })

  it('loses no character of a wrapped line', () => {
    const text = 'x漢字😀\u009b\u202e\u0301'.repeat(2_000)
    const open = raw(text)
    for (const columns of [14, 40, 80]) {
      const lines = textLayout(xmlText(open), columns, START_DOCUMENT)
      let at = 0
      for (let row = 0; row < lines.total; row++) {
        const part = lines.row(row)
        expect(part.from).toBe(at)
        at = part.to
      }
      expect(at).toBe(text.length)
      expect(linesOf(open, columns, 30, 2).slice(1).join('')).not.toContain('…')
    }
  })

  it('has a text if there is nothing to show', () => {
    expect(linesOf(unreadStream(NAME, 0), 40, 2)[0]).toContain('nothing to show yet')
    expect(xmlRows(sceneOf(undefined, { columns: 10 }), { columns: 10, rows: 2 })).toHaveLength(2)
  })
})
