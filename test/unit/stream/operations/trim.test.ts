import { expect, test } from 'vitest'
import { findForeignWrite } from '../../../../src/stream/journal/history.ts'
import { findCommand, parseJournal } from '../../../../src/stream/journal/journal.ts'
import { trimSession } from '../../../../src/stream/operations/trim.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'
import { type Brief, Play, spec } from '../../../support/stream-builder.ts'

/** A session whose first `done` steps of these are completed. */
function session(steps: number, done: number): Play {
  const play = new Play().after({ op: 'init', root: spec('Session'), session: true })
  for (let at = 0; at < steps; at++) play.do({ op: 'append', step: spec(`S${at}`) }, { commandId: `m${at}` })
  for (let at = 0; at < done; at++) play.after({ op: 'complete', event: idOf(at) })
  return play
}

/** Play counts its command ids in the journal, which a trim shortens. */
let commands = 0
function go(play: Play, ...briefs: readonly Brief[]): Play {
  for (const brief of briefs) play.do(brief, { commandId: `after-${commands++}` })
  return play
}

const idOf = (at: number) => `02.${String(at).padStart(2, '0')}`

/** The stream after a trim, written and read again. */
function trimmed(play: Play, keep: number): Play {
  return new Play(writeDocument(trimSession(play.document, keep)).text)
}

const entriesOf = ({ document }: Play) => parseJournal(document.journal, document.prefix)

test('a trim drops the oldest completed steps and their part of the journal, and an entry says so', () => {
  const before = session(10, 8)
  const play = trimmed(before, 3)
  expect(play.stream.events.map(({ id }) => id)).toEqual(['00', '01.00', ...[5, 6, 7, 8, 9].map(idOf)])
  expect(play.event('00').next).toBe(['01.00', ...[5, 6, 7, 8, 9].map(idOf)].join('|'))
  expect(play.document.version).toBe(before.document.version + 1)
  expect(entriesOf(play).at(-1)).toMatchObject({ op: 'trim', why: '5 steps dropped so far' })
  expect(play.document.journal).not.toContain(`event="${idOf(0)}"`)
  expect(findCommand(play.document.journal, play.document.prefix, 'm0')).toBeUndefined()
  expect(findCommand(play.document.journal, play.document.prefix, 'm7')).toBeDefined()
})

test('a trimmed document is not a foreign write, and goes on as before', () => {
  const play = trimmed(session(10, 8), 3)
  expect(findForeignWrite(play.document, play.document.version)).toBeUndefined()
  play.after(
    { op: 'append', step: spec('Next') },
    { op: 'complete', event: idOf(8) },
    { op: 'complete', event: idOf(9) },
  )
  expect(play.status(idOf(10))).toBe('init')
  go(play, { op: 'complete', event: idOf(10) }, { op: 'signal', name: 'end' })
  expect(play.status('00')).toBe('completed')
})

test('further trims keep one entry with the number of all steps that were dropped', () => {
  const play = trimmed(session(10, 8), 3)
  go(play, { op: 'complete', event: idOf(8) })
  const entries = entriesOf(trimmed(play, 1))
  expect(entries.filter(({ op }) => op === 'trim')).toMatchObject([{ why: '7 steps dropped so far' }])
})

test.each([
  ['that failed', (play: Play) => play.after({ op: 'fail', event: idOf(0) })],
  [
    'that failed and was skipped',
    (play: Play) =>
      play.after(
        { op: 'fail', event: idOf(0) },
        { op: 'skip', event: idOf(0), msg: 'without it' },
        { op: 'complete', event: idOf(1) },
        { op: 'complete', event: idOf(2) },
      ),
  ],
  ['that is not done', (play: Play) => play],
])('a step %s is never dropped', (_, change) => {
  const play = change(session(3, 0))
  expect(trimSession(play.document, 1)).toBe(play.document)
})

test('a step with work to undo is never dropped', () => {
  const play = new Play().after({ op: 'init', root: spec('Session'), session: true })
  play.after(
    { op: 'append', step: spec('A', { undo: 'UndoA' }) },
    { op: 'append', step: spec('B') },
    { op: 'append', step: spec('C') },
    { op: 'append', step: spec('D') },
  )
  play.after(...[0, 1, 2, 3].map(at => ({ op: 'complete', event: idOf(at) }) as const))
  expect(trimmed(play, 0).stream.events.map(({ id }) => id)).toEqual(['00', '01.00', idOf(0), idOf(2), idOf(3)])
})

test('what a step added below itself is dropped with it, and only when all of it is done', () => {
  const play = session(5, 0).after({ op: 'advance', event: idOf(0), forks: [spec('Part')] })
  expect(trimSession(play.document, 1)).toBe(play.document)
  const part = play.stream.events.find(({ name }) => name === 'Part')?.id ?? ''
  play.after({ op: 'complete', event: part }, { op: 'advance', event: idOf(1), forks: [spec('Later')] })
  const later = play.stream.events.find(({ name }) => name === 'Later')?.id ?? ''
  play.after(...[later, idOf(2), idOf(3), idOf(4)].map(event => ({ op: 'complete', event }) as const))
  const names = trimmed(play, 1).stream.events.map(({ name }) => name)
  expect(names).not.toContain('Part')
  expect(names).toContain('S1')
})

test('the id of a dropped event is not given to another one', () => {
  const play = session(5, 0).after({ op: 'advance', event: idOf(0), forks: [spec('Part')] })
  const part = play.stream.events.find(({ name }) => name === 'Part')?.id ?? ''
  play.after({ op: 'complete', event: part }, { op: 'advance', event: idOf(1), next: spec('Later') })
  const later = play.stream.events.find(({ name }) => name === 'Later')?.id ?? ''
  play.after({ op: 'complete', event: later }, { op: 'complete', event: idOf(2) }, { op: 'complete', event: idOf(3) })
  const next = trimmed(play, 1)
  go(next, { op: 'advance', event: idOf(4), forks: [spec('Other')] }, { op: 'append', step: spec('Last') })
  const ids = next.stream.events.filter(({ name }) => name === 'Other' || name === 'Last').map(({ id }) => id)
  expect(ids.filter(id => play.stream.find(id) !== undefined)).toEqual([])
})

test.each([
  ['step', idOf(0), (play: Play) => play],
  [
    'part of a step',
    '02.01.00',
    (play: Play) => play.after({ op: 'advance', event: idOf(0), forks: [spec('Part'), spec('Other')] }),
  ],
])('a skipped %s cannot be retried after a trim either, once another has run that waited for it', (_, event, begin) => {
  const play = begin(session(6, 0)).after({ op: 'fail', event }, { op: 'skip', event, msg: 'without it' })
  if (event !== idOf(0)) play.after({ op: 'complete', event: '02.02.00' })
  play.after(...[1, 2, 3, 4].map(at => ({ op: 'complete', event: idOf(at) }) as const))
  const next = trimmed(play, 1)
  expect(next.stream.find(idOf(2))).toBeUndefined()
  expect([play, next].map(each => each.code({ op: 'retry', event }, { commandId: 'again' }))).toEqual([
    'join-ran',
    'join-ran',
  ])
})

test('a stream that is no session is left alone', () => {
  const play = Play.started('A', 'B').after({ op: 'complete', event: '01.00' })
  expect(trimSession(play.document, 1)).toBe(play.document)
})

test('a writer of 2013 closes a trimmed session as any other', () => {
  const play = go(trimmed(session(6, 6), 2), { op: 'signal', name: 'end' })
  expect(play.status('00')).toBe('completed')
  play.legacy(() => {})
  expect(findForeignWrite(play.document, play.document.version)).toBeUndefined()
})
