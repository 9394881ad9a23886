import { describe, expect, it } from 'vitest'
import { commandHash } from '../../../../src/stream/operations/command-hash.ts'
import { documentText, type EventText, Play } from '../../../support/stream-builder.ts'
import { expire, HOUR, look, worked } from './expired-play.ts'

describe('several watchdogs', () => {
  const message = 'silent'
  const by = (who: string) => ({ commandId: 'watchdog:01.00:2:5', by: who, why: message })

  it('end an event once: for the others it is a duplicate, although they observed it in another state', () => {
    const play = worked()
    const expired = look(play, '01.00')
    expect(expire(play, expired, by('a'))).toMatchObject({ outcome: 'done', duplicate: false })
    const { length } = play.journal
    const { text } = play
    expect(expire(play, expired, by('b'))).toMatchObject({ outcome: 'already', duplicate: true })
    expect(expire(play, { ...expired, fence: '9', timestamp: '' }, by('c'))).toMatchObject({ duplicate: true })
    expect(play.text).toBe(text)
    expect(play.journal).toHaveLength(length)
    expect(play.journal.filter(({ commandId }) => commandId === by('').commandId)).toMatchObject([{ by: 'a' }])
  })

  it('also find the duplicate if the event was reopened since', () => {
    const play = worked()
    const expired = look(play, '01.00')
    expire(play, expired, by('a'))
    play.do({ op: 'retry', event: '01.00' })
    expect(expire(play, expired, by('b'))).toMatchObject({ duplicate: true })
    expect(play.status('01.00')).toBe('init')
  })

  it('that use the same id with other arguments are refused', () => {
    const play = worked()
    const expired = look(play, '01.00')
    expire(play, expired, by('a'))
    const again = by('b')
    expect(play.code({ op: 'abort', expired }, again)).toBe('command-id-reused')
    expect(play.code({ op: 'abort', event: '01.00', expired, msg: 'other' }, again)).toBe('command-id-reused')
    expect(play.code({ op: 'cancel', event: '01.00' }, again)).toBe('command-id-reused')
  })

  it('compute one hash for one command: the observation, and a message equal to the reason, are not part of it', () => {
    const expired = look(worked(), '01.00')
    const author = { commandId: 'x', by: 'a', why: message }
    const hash = commandHash({ op: 'abort', event: '01.00' }, { commandId: 'x', by: 'b' })
    expect(commandHash({ op: 'abort', event: '01.00', expired, msg: message }, author)).toBe(hash)
    expect(commandHash({ op: 'abort', expired }, author)).not.toBe(hash)
  })
})

describe('streams of the old library', () => {
  const old = (more: EventText) =>
    new Play(
      documentText(
        { id: '00', status: 'inprocess', created: '11/22/2013 6:00:00 PM', next: '01.00' },
        { id: '01.00', status: 'inprocess', prev: '00', ...more },
      ),
    )

  it.each<[string, EventText, string]>([
    ['month first', { timestamp: '11/22/2013 6:23:05 PM', timeout: '00:05:00' }, '2013-11-22T18:28:05Z'],
    ['a narrow space', { timestamp: '11/22/2013 6:23:05\u202FPM', timeout: '00:05:00' }, '2013-11-22T18:28:05Z'],
    ['dots', { timestamp: '22.11.2013 18:23:05', timeout: '1.00:00:00' }, '2013-11-23T18:23:05Z'],
    ['a bare number of days', { timestamp: '2013/11/22 18:23:05', timeout: '2' }, '2013-11-24T18:23:05Z'],
    ['hours beyond a day', { timestamp: '2013-11-22 18:23:05', timeout: '24:00:00' }, '2013-12-16T18:23:05Z'],
    [
      'never started',
      { status: 'init', created: '11/22/2013 6:20:00 PM', timeout: '01:00:00' },
      '2013-11-22T19:20:00Z',
    ],
    ['a date', { timestamp: '', timeout: '2013-12-24T12:00:00Z' }, '2013-12-24T12:00:00Z'],
  ])('expire: %s', (_, more, due) => {
    const play = old(more)
    const expired = look(play, '01.00')
    expect(expired).toMatchObject({ attempt: '', fence: '', timestamp: more.timestamp ?? '', dueMs: Date.parse(due) })
    expect(expire(play, expired)).toMatchObject({ outcome: 'done', version: 2 })
    expect(play.status('01.00')).toBe('aborted')
    expect(play.journal.map(({ op }) => op)).toEqual(['adopt', 'abort'])
  })

  it('are judged by one reading of an ambiguous date; another reading gives another deadline', () => {
    const ambiguous = () =>
      new Play(documentText({ id: '00', status: 'inprocess', created: '03/04/2024 10:00:00', timeout: '1.00:00:00' }))
    const [march, april] = [Date.parse('2024-03-04T10:00:00Z'), Date.parse('2024-04-03T10:00:00Z')]
    const expired = look(ambiguous(), '00', april)
    expect(expired.dueMs).toBe(april + 24 * HOUR)
    expect(ambiguous().code({ op: 'abort', expired }, { lastModifiedMs: march })).toBe('showed-life')
    const play = ambiguous()
    expect(play.do({ op: 'abort', expired }, { lastModifiedMs: april }).outcome).toBe('done')
    expect(play.document.dates).toBe('dmy')
  })
})
