import { describe, expect, it } from 'vitest'
import { replayStatuses } from '../../../../src/stream/journal/history.ts'
import {
  appendTransaction,
  findCommand,
  formatTransaction,
  lastVersion,
  lateWriters,
  parseJournal,
  type Transaction,
} from '../../../../src/stream/journal/journal.ts'
import { Play } from '../../../support/stream-builder.ts'

const entry = (more: Partial<Transaction> = {}): Transaction => ({
  version: 3,
  at: '2024-05-01T12:00:00.000Z',
  by: 'ops@host',
  op: 'start',
  on: '01.00',
  commandId: 'c-1',
  hash: '0123456789abcdef',
  why: '',
  other: false,
  changes: [],
  ...more,
})

describe('journal', () => {
  it('records the author, the operation, the time, the reason and every change of a transaction', () => {
    const play = Play.started('A')
    play.do({ op: 'start', event: '01.00' }, { by: 'w1', why: 'my turn', commandId: 'id' })
    expect(play.journal.at(-1)).toEqual({
      version: 2,
      at: '2024-05-01T12:00:00.000Z',
      by: 'w1',
      op: 'start',
      on: '01.00',
      commandId: 'id',
      hash: expect.stringMatching(/^[0-9a-f]{16}$/),
      why: 'my turn',
      other: false,
      changes: [{ event: '01.00', from: 'init', to: 'inprocess', how: 'target', owner: 'w1', attempt: 1 }],
    })
  })

  it.each(['\u0000', '\u0008', '\u001b', '\ufffe', '\ud800'])(
    'takes no entry with %j, which XML cannot hold',
    character => {
      const fields: Partial<Transaction>[] = [
        { why: character },
        { by: `a${character}` },
        { changes: [{ event: '01', from: '', to: character, how: 'add' }] },
      ]
      for (const more of fields) expect(() => appendTransaction('', entry(more), 'lc')).toThrow(/XML cannot hold/)
    },
  )

  it('is written as one line per entry, in a fixed order, without empty values', () => {
    const change = { event: '01', from: '', to: 'init', how: 'add' } as const
    expect(formatTransaction(entry({ changes: [change], nonce: '9e107d9d', why: 'a "b" <c>\n&' }), 'lc')).toBe(
      '<lc:tx v="3" at="2024-05-01T12:00:00.000Z" by="ops@host" op="start" on="01.00" cmd="c-1" n="9e107d9d" h="0123456789abcdef" ' +
        'why="a &quot;b&quot; &lt;c&gt;&#xA;&amp;"><lc:change event="01" to="init" how="add"/></lc:tx>',
    )
    expect(formatTransaction(entry({ by: '', other: true }), 'p')).toMatch(/^<p:tx v="3" .* other="yes"\/>$/)
  })

  it('is read as it was written', () => {
    const all = [
      entry({ why: 'ä & "\t\r\n' }),
      entry({
        version: 4,
        nonce: '9e107d9d',
        other: true,
        changes: [
          { event: '01.00', from: 'init', to: 'inprocess', how: 'target', owner: 'w"1', attempt: 2 },
          { event: '02.00', from: 'init', to: 'init', how: 'target', attr: 'tag timeout' },
        ],
      }),
    ]
    const text = all.reduce((journal, one) => appendTransaction(journal, one, 'x'), '')
    expect(parseJournal(text, 'x')).toEqual(all)
    expect(lastVersion(text, 'x')).toBe(4)
    expect(findCommand(text, 'x', 'c-1')).toEqual(all[0])
    expect(findCommand(text, 'x', 'c-')).toBeUndefined()
  })

  it('ignores foreign content and reads missing values as empty', () => {
    const text = '<!-- x --><x:note/><lc:tx v="one"><lc:change how="odd" attempt="?"/></lc:tx><lc:other/>'
    expect(parseJournal(text, 'lc')).toEqual([
      {
        ...{ version: 0, at: '', by: '', op: '', on: '', commandId: '', hash: '', why: '', other: false },
        changes: [{ event: '', from: '', to: '', how: 'target', attempt: 0 }],
      },
    ])
    expect(lastVersion(text, 'lc')).toBe(0)
    expect(parseJournal('', 'lc')).toEqual([])
    expect(lastVersion('', 'lc')).toBe(0)
  })

  it('fails to read if it is broken, and never yields half a history', () => {
    expect(() => parseJournal('<lc:tx v="1">', 'lc')).toThrow()
  })

  it('yields the statuses when replayed: without removed events, with events that lost their status', () => {
    const change = (event: string, from: string, to: string, how: 'add' | 'target') => ({ event, from, to, how })
    const statuses = replayStatuses([
      entry({
        changes: [change('00', '', 'init', 'add'), change('01', '', 'init', 'add'), change('02', '', '', 'add')],
      }),
      entry({ changes: [change('00', 'init', 'inprocess', 'target'), change('01', 'init', '', 'target')] }),
    ])
    expect([...statuses]).toEqual([
      ['00', 'inprocess'],
      ['02', ''],
    ])
  })
})

describe('the recent writers', () => {
  const journalOf = (entries: readonly Partial<Transaction>[]) =>
    entries.reduce((journal, more) => appendTransaction(journal, entry(more), 'lc'), '')

  it('are those of the entries since a time, each once, with their names as written', () => {
    const journal = journalOf([
      { at: '2024-05-01T12:00:00.000Z', by: 'old' },
      { at: '2024-05-01T12:00:01.000Z', by: 'a"b' },
      {
        at: '2024-05-01T12:00:02.000Z',
        by: 'c',
        changes: [{ event: '01.00', from: 'init', to: 'done', how: 'target' }],
      },
      { at: '2024-05-01T12:00:03.000Z', by: 'c' },
    ])
    expect(lateWriters(journal, 'lc', '2024-05-01T12:00:01.000Z')).toEqual({
      names: new Set(['a&quot;b', 'c']),
      changes: 1,
      tookMs: 2_000,
    })
    expect(lateWriters('', 'lc', '')).toEqual({ names: new Set(), changes: 0, tookMs: 0 })
  })

  it('exclude the creator of the stream and entries without a name', () => {
    const journal = journalOf([{ op: 'init', by: 'creator' }, { op: 'settle', by: '' }, { by: 'worker' }])
    expect(lateWriters(journal, 'lc', '').names).toEqual(new Set(['worker']))
  })

  it('are searched in a limited number of entries', () => {
    const journal = journalOf([{ by: 'first' }, ...Array.from({ length: 200 }, () => ({ by: 'last' }))])
    expect(lateWriters(journal, 'lc', '').names).toEqual(new Set(['last']))
  })
})
