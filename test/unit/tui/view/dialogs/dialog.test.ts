import { describe, expect, it } from 'vitest'
import type { Preview } from '../../../../../src/tui/ports.ts'
import type { Batch, ChangeDialog } from '../../../../../src/tui/state/state.ts'
import { fieldWith } from '../../../../../src/tui/state/text-field.ts'
import { type BandDialog, dialogRows } from '../../../../../src/tui/view/dialogs/dialog.ts'
import { fieldSpans } from '../../../../../src/tui/view/text-field.ts'
import { sceneOf, textOf, widest } from '../stream-scene.ts'

const PREVIEW: Preview = {
  verb: 'cancel',
  question: 'Cancel 3 streams in sqlite:/data/orders.db?',
  more: 0,
  facts: [],
  affected: ['orders/1  ▶ inprocess  4 open events below', 'orders/2  ▶ inprocess', 'orders/3  ○ init'],
  count: 3,
  command: reason => `leasectl cancel orders/1 orders/2 orders/3 --reason '${reason}'`,
  confirm: { kind: 'type', text: '3', what: 'the number of streams' },
}

const CHANGE: ChangeDialog = {
  kind: 'change',
  request: 1,
  verb: 'cancel',
  targets: [{ stream: 'orders/1' }],
  preview: PREVIEW,
  fault: undefined,
  reason: fieldWith('duplicate order'),
  typed: fieldWith(''),
  signal: fieldWith(''),
  data: fieldWith(''),
  focus: 'reason',
  top: 0,
}

const BATCH: Batch = {
  preview: PREVIEW,
  outcomes: [
    { target: { stream: 'orders/1' }, word: 'done', isGood: true, text: 'canceled, with 3 more events' },
    { target: { stream: 'orders/2', event: '01.00' }, word: 'refused', isGood: false, text: 'it has ended' },
  ],
  isStopping: false,
  end: undefined,
}

const LOOKING: ChangeDialog = { ...CHANGE, preview: undefined, focus: 'no' }
const DIALOGS: { readonly [Name in string]: readonly [BandDialog, Batch?] } = {
  change: [CHANGE],
  'change, yes': [{ ...CHANGE, preview: { ...PREVIEW, confirm: { kind: 'yes' } }, focus: 'yes' }],
  'change, nothing to do': [
    { ...CHANGE, preview: { ...PREVIEW, count: 0, affected: [], facts: ['it has ended'] }, focus: 'no' },
  ],
  looking: [LOOKING],
  fault: [{ ...LOOKING, fault: 'the store does not answer  [unavailable]' }],
  unlock: [{ kind: 'unlock', name: 'prod-orders', field: fieldWith('prod'), isWrong: true }],
  running: [{ kind: 'output', line: 'ls --status failed', output: undefined, top: 0 }],
  output: [{ kind: 'output', line: 'show x', output: { exit: 4, lines: ['a', 'b', 'c', 'd', 'e', 'f'] }, top: 2 }],
  outcomes: [{ kind: 'outcomes', top: 0 }, BATCH],
  'outcomes at the end': [
    { kind: 'outcomes', top: 0 },
    { ...BATCH, end: { lines: ['run file: /tmp/run.json'] } },
  ],
  quit: [{ kind: 'quit' }, BATCH],
}

function linesOf(dialog: BandDialog, columns: number, rows: number, batch?: Batch): string[] {
  const scene = sceneOf(undefined, { columns, facts: { isProtected: true }, state: { batch } })
  const drawn = dialogRows(scene, dialog, { columns, rows })
  expect(drawn.length).toBeLessThanOrEqual(rows)
  expect(widest(drawn)).toBeLessThanOrEqual(columns)
  return textOf(drawn)
}

describe('dialogs', () => {
  it.each([
    [60, 18],
    [20, 5],
    [20, 3],
  ])('fit %i columns and %i rows', async (columns, rows) => {
    const shown = Object.entries(DIALOGS).map(([name, [dialog, batch]]) =>
      [`# ${name}`, ...linesOf(dialog, columns, rows, batch), ''].join('\n'),
    )
    await expect(shown.join('\n')).toMatchFileSnapshot(`dialogs-${columns}x${rows}.txt`)
  })

  it('are never wider or higher than their area', () => {
    for (const [dialog, batch] of Object.values(DIALOGS))
      for (const columns of [1, 5, 20, 39, 40, 72, 200])
        for (const rows of [0, 1, 2, 3, 5, 8, 20, 60]) linesOf(dialog, columns, rows, batch)
  })

  it('keep the question and the answers with two rows or more, also in twenty columns', () => {
    for (const focus of ['reason', 'typed', 'no', 'yes'] as const)
      for (const rows of [2, 3, 5, 8]) {
        const lines = linesOf({ ...CHANGE, focus }, 20, rows)
        expect(lines.join('\n')).toContain('Cancel 3 streams')
        expect(lines.join('\n')).toMatch(/\[No\].\[Yes\]/)
      }
  })

  it('show the focus without colors', () => {
    const shown = (focus: ChangeDialog['focus']) => linesOf({ ...CHANGE, focus }, 80, 18).join('\n')
    expect(shown('reason')).toContain('›reason: duplicate order│')
    expect(shown('typed')).toContain('›type 3, the number of streams: │')
    expect(shown('no')).toContain('›[ No ]  [ Yes, cancel ]')
    expect(shown('yes')).toContain(' [ No ] ›[ Yes, cancel ]')
  })

  it('show the store, the consequences and the equivalent command line, with the reason typed so far', () => {
    const shown = linesOf(CHANGE, 100, 18).join('\n')
    expect(shown).toContain('in memory:test  protected')
    expect(shown).toContain('orders/1  ▶ inprocess  4 open events below')
    expect(shown).toContain("leasectl cancel orders/1 orders/2 orders/3 --reason 'duplicate order'")
  })

  it('count the targets that do not fit', () => {
    const lines = Array.from({ length: 40 }, (_, at) => `orders/${at}  ▶ inprocess`)
    const shown = linesOf({ ...CHANGE, preview: { ...PREVIEW, affected: lines } }, 80, 14)
    expect(shown.join('\n')).toMatch(/orders\/0 (?:.|\n)*orders\/3 (?:.|\n)*1–4 of 40/)
    expect(shown).toHaveLength(14)
  })

  it.each([
    [80, 22, 11],
    [100, 28, 17],
    [40, 10, 1],
  ])('keep store, protection, totals and what is left out in %i columns and %i rows', (columns, rows, listed) => {
    const affected = Array.from({ length: 64 }, (_, at) => `orders/${1_000 + at}  ▶ inprocess  4 open events below`)
    const facts = ['64 streams: 64 inprocess; 6 already final, left out']
    const confirm = { kind: 'type', text: '64', what: 'the number of streams' } as const
    const preview = { ...PREVIEW, question: 'This aborts 64 streams', affected, facts, count: 64, confirm }
    const address = `sqlite:/srv/${'deep/'.repeat(20)}prod.db`
    const scene = sceneOf(undefined, { columns, facts: { isProtected: true, address } })
    for (const focus of ['reason', 'typed', 'no', 'yes'] as const) {
      const drawn = textOf(dialogRows(scene, { ...CHANGE, preview, focus, top: 60 }, { columns, rows }))
      const text = drawn.join('\n')
      expect(drawn.length).toBeLessThanOrEqual(rows)
      expect(text).toContain('This aborts 64 streams')
      expect(text).toMatch(/in sqli.*…/)
      expect(text).toContain('prod.db  protected')
      expect(text.replace(/\s+/g, ' ')).toContain('64 streams: 64 inprocess; 6 already final, left out')
      expect(text).toMatch(/No.*Yes/)
      expect(text.match(/orders\/1\d\d\d/g)).toHaveLength(listed)
    }
  })

  it('show the position in the list even where one target has room', () => {
    const affected = Array.from({ length: 64 }, (_, at) => `orders/${at}`)
    const dialog = {
      ...CHANGE,
      preview: { ...PREVIEW, affected, more: 936, question: 'This cancels 3', facts: ['a total', 'another'] },
      top: 6,
    }
    expect(linesOf(dialog, 40, 10).join('\n')).toContain('7/1 000 orders/6')
  })

  it('have no yes before the preview has arrived, nor if there is nothing to do', () => {
    expect(linesOf(LOOKING, 80, 18).join('\n')).not.toContain('Yes')
    expect(linesOf({ ...CHANGE, focus: 'no', preview: { ...PREVIEW, count: 0 } }, 80, 18).join('\n')).not.toContain(
      'Yes',
    )
  })

  it('scroll outcomes, and count those outside the screen', () => {
    const outcomes = Array.from({ length: 50 }, (_, at) => ({
      target: { stream: `orders/${at}` },
      word: 'done',
      isGood: true,
      text: 'canceled',
    }))
    const shown = linesOf({ kind: 'outcomes', top: 1_000 }, 80, 10, { ...BATCH, outcomes })
    expect(shown.join('\n')).toContain('orders/49')
    expect(shown.join('\n')).toContain('45–50 of 50')
  })

  it('show foreign texts safely', () => {
    const evil = '\u001b[2J\u202e\u200d👨‍👩‍👧\n'
    const preview = { ...PREVIEW, question: evil, affected: [evil], facts: [evil], command: () => evil }
    const outcomes = [{ target: { stream: evil, event: evil }, word: evil, isGood: false, text: evil }]
    const all = [
      linesOf({ ...CHANGE, preview, reason: fieldWith(evil) }, 60, 18),
      linesOf({ ...LOOKING, fault: evil }, 60, 18),
      linesOf({ kind: 'output', line: evil, output: { exit: 0, lines: [evil] }, top: 0 }, 60, 18),
      linesOf({ kind: 'outcomes', top: 0 }, 60, 18, { ...BATCH, outcomes, end: { fault: evil } }),
      linesOf({ kind: 'unlock', name: evil, field: fieldWith(evil), isWrong: false }, 60, 18),
    ]
    expect(all.flat().join('')).not.toMatch(/[\u0000-\u001f]|\u200d|\u202e/)
  })
})

describe('a text field', () => {
  const shown = (text: string, at: number, width: number) =>
    fieldSpans({ text, at }, width)
      .map(([part]) => part)
      .join('')

  it('shows the cursor, in exactly its columns', () => {
    expect(shown('abc', 3, 8)).toBe('abc│    ')
    expect(shown('abc', 1, 8)).toBe('a│bc    ')
    expect(fieldSpans({ text: 'abc', at: 0 }, 8, false)).toEqual([['abc     ', 'plain']])
  })

  it('shows the part of a long text around the cursor, and marks omitted parts', () => {
    expect(shown('0123456789', 10, 6)).toBe('…6789│')
    expect(shown('0123456789', 0, 6)).toBe('│0123…')
    for (const text of ['0123456789'.repeat(30), '漢字かな'.repeat(30), '👍e\u0301'.repeat(20)])
      for (const at of [0, 1, 7, 19, 40])
        for (const width of [1, 2, 5, 20]) {
          const spans = fieldSpans({ text, at }, width)
          expect(widest([{ spans }])).toBe(width)
          expect(spans.some(([part]) => part === '│')).toBe(true)
        }
  })
})
