import { expect, test } from 'vitest'
import type { StreamDocument } from '../../../../src/stream/document.ts'
import { findForeignWrite } from '../../../../src/stream/journal/history.ts'
import { parseJournal } from '../../../../src/stream/journal/journal.ts'
import type { Applied } from '../../../../src/stream/operations/apply.ts'
import { rewrite } from '../../../../src/stream/operations/rewrite.ts'
import { readDocument } from '../../../../src/stream/xml/read.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'
import { BORN, documentText, Play } from '../../../support/stream-builder.ts'

const AUTHOR = { by: 'ann', commandId: 'edit-1', why: 'wrong key' }

function write(stored: StreamDocument, given: StreamDocument, author = AUTHOR, more = {}): Applied {
  return rewrite(stored, given, author, {
    nowMs: Play.started('A').nowMs + 60_000,
    versionFloor: 0,
    born: BORN,
    ...more,
  })
}

function written(applied: Applied): StreamDocument {
  if (applied.kind !== 'changed') throw new Error(`the document was not written: ${JSON.stringify(applied)}`)
  return readDocument(writeDocument(applied.document).text)
}

const edited = (text: string, from: string, to: string) => readDocument(text.replace(from, to))
const entries = ({ journal, prefix }: StreamDocument) => parseJournal(journal, prefix)

test('a rewritten document is a foreign entry with its author, reason and command id', () => {
  const play = Play.started('A')
  const after = written(write(play.document, edited(play.text, 'name="A"', 'name="A" key="north"')))
  expect(after).toMatchObject({ version: play.document.version + 1, born: play.document.born })
  expect(entries(after).slice(0, -1)).toEqual(entries(play.document))
  expect(entries(after).at(-1)).toMatchObject({
    op: 'foreign',
    by: 'ann',
    why: 'wrong key',
    commandId: 'edit-1',
    other: true,
  })
  expect(after.events.find(({ id }) => id === '01.00')?.key).toBe('north')
  expect(findForeignWrite(after, after.version)).toBeUndefined()
})

test('a status in the given document is recorded as a change, and what it closes is closed', () => {
  const play = Play.started('A')
  const given = readDocument(play.text)
  const events = given.events.map(event => (event.id === '01.00' ? { ...event, status: 'completed' } : event))
  const after = written(write(play.document, { ...given, events }))
  expect(after.events.map(({ status }) => status)).toEqual(['completed', 'completed'])
  const rewriting = entries(after).find(({ op }) => op === 'foreign')
  expect(rewriting?.changes).toMatchObject([{ event: '01.00', from: 'init', to: 'completed' }])
})

test('an older document brings back its events, but no version, incarnation or history', () => {
  const play = Play.started('A')
  const older = readDocument(play.text)
  play.after({ op: 'complete', event: '01.00' })
  const after = written(write(play.document, { ...older, born: 'another', version: 1 }))
  expect(after.events.map(({ status }) => status)).toEqual(['inprocess', 'init'])
  expect(after.version).toBeGreaterThan(play.document.version)
  expect(after.born).toBe(play.document.born)
  expect(entries(after).map(({ op }) => op)).toEqual(['init', 'complete', 'foreign'])
})

test('a claim that the stored document does not have is not taken over, and one that it has stays', () => {
  const play = Play.started('A').after({ op: 'start', event: '01.00', owner: 'w1' })
  const claimed = readDocument(play.text)
  const kept = written(write(play.document, edited(play.text, 'name="A"', 'name="A" key="k"')))
  expect(kept.events[1]?.lc.fence).toBe(claimed.events[1]?.lc.fence)
  play.after({ op: 'release', event: '01.00', owner: 'w1' })
  const after = written(write(play.document, claimed))
  expect(after.events[1]?.lc).not.toHaveProperty('fence')
  expect(after.events[1]?.lc).not.toHaveProperty('until')
})

test('what another program wrote before is an entry of its own', () => {
  const play = Play.started('A', 'B').edit(text => text.replace('name="B"', 'name="B" tag="theirs"'))
  const after = written(write(play.document, edited(play.text, 'name="A"', 'name="A" key="ours"')))
  expect(entries(after).map(({ op, by }) => `${op} ${by}`)).toEqual(['init test', 'foreign ', 'foreign ann'])
})

test('the same rewriting again changes nothing, and another one with its command id is refused', () => {
  const play = Play.started('A')
  const given = edited(play.text, 'name="A"', 'name="A" key="north"')
  const after = written(write(play.document, given))
  expect(write(after, given)).toMatchObject({ kind: 'unchanged', result: { duplicate: true } })
  const other = edited(play.text, 'name="A"', 'name="A" key="south"')
  expect(write(after, other)).toMatchObject({ kind: 'refused', refusal: { code: 'command-id-reused' } })
})

test('the document as it is changes nothing', () => {
  const play = Play.started('A')
  expect(write(play.document, readDocument(play.text))).toMatchObject({
    kind: 'unchanged',
    result: { outcome: 'already' },
  })
})

test('a stream that has changed since the version was read is not written', () => {
  const play = Play.started('A')
  const applied = write(play.document, edited(play.text, 'name="A"', 'name="X"'), AUTHOR, { ifVersion: 9 })
  expect(applied).toMatchObject({ kind: 'refused', refusal: { code: 'changed' } })
})

test('the journal is kept in a document that binds another namespace prefix', () => {
  const play = Play.started('A')
  const text = documentText({ id: '00', status: 'init', name: 'Start' }).replaceAll('lc', 'x')
  const after = written(write(play.document, readDocument(text)))
  expect(entries(after).map(({ op }) => op)).toEqual(['init', 'foreign'])
})
