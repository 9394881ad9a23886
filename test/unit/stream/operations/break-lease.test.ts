import { expect, test } from 'vitest'
import { parseJournal } from '../../../../src/stream/journal/journal.ts'
import { applyOperation } from '../../../../src/stream/operations/apply.ts'
import { Play } from '../../../support/stream-builder.ts'

const entries = ({ document }: Play) => parseJournal(document.journal, document.prefix)

test('a broken lease is an entry in the journal that changes no event', () => {
  const play = Play.started('A', 'B')
  const before = play.document
  expect(play.do({ op: 'break-lease' }, { why: 'worker is gone' })).toMatchObject({
    outcome: 'done',
    version: before.version + 1,
    changed: [],
  })
  expect(entries(play).at(-1)).toMatchObject({ op: 'break-lease', on: '', why: 'worker is gone', changes: [] })
  expect(play.document.events).toEqual(before.events)
})

test('a stream that has ended keeps the entry of a broken lease too', () => {
  const play = Play.started('A').after({ op: 'cancel' }, { op: 'break-lease' })
  expect(entries(play).at(-1)?.op).toBe('break-lease')
})

test('the entry of a broken lease is written once for a command id', () => {
  const play = Play.started('A')
  play.do({ op: 'break-lease' }, { commandId: 'break-1' })
  expect(play.do({ op: 'break-lease' }, { commandId: 'break-1' })).toMatchObject({
    outcome: 'already',
    duplicate: true,
  })
  expect(entries(play).filter(({ op }) => op === 'break-lease')).toHaveLength(1)
})

test('a document that leasectl has never written gets no entry of a broken lease', () => {
  const { document } = Play.started('A')
  const foreign = { ...document, version: 0, journal: '', sum: '' }
  const author = { commandId: 'c', by: 'ops' }
  const context = { nowMs: Date.now(), versionFloor: 0, born: 'b' }
  const applied = applyOperation(foreign, { op: 'break-lease' }, author, context)
  expect(applied).toMatchObject({ kind: 'unchanged', result: { outcome: 'already', version: 0, duplicate: false } })
})
