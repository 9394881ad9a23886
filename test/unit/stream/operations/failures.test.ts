import { describe, expect, it } from 'vitest'
import { parseJournal } from '../../../../src/stream/journal/journal.ts'
import { summarize } from '../../../../src/stream/summarize.ts'
import { runningEvent } from '../../../../src/stream/summary-items.ts'
import { Play } from '../../../support/stream-builder.ts'

const START = { op: 'start', event: '01.00', owner: 'w', claimMs: 60_000 } as const

function fork(): Play {
  return Play.started('A', 'B')
}

function reasons({ document }: Play): string[] {
  return parseJournal(document.journal, document.prefix).map(({ op, why }) => `${op} ${why}`)
}

function summary(play: Play) {
  return summarize(play.document, { nowMs: play.nowMs, lastBy: '' })
}

describe('the message of a failure', () => {
  it('is the reason of its transaction in the journal', () => {
    const play = fork().after(START, { op: 'fail', event: '01.00', owner: 'w', msg: 'db down' })
    expect(reasons(play).at(-1)).toBe('fail db down')
  })

  it('survives a retry and the next failure', () => {
    const play = fork().after(
      { op: 'fail', event: '01.00', msg: 'first' },
      { op: 'retry' },
      { op: 'fail', event: '01.00', msg: 'second' },
    )
    expect(reasons(play).slice(-3)).toEqual(['fail first', 'retry ', 'fail second'])
  })

  it('is cut to what a reason may have', () => {
    const play = fork().after({ op: 'fail', event: '01.00', msg: 'é'.repeat(2_000) })
    expect(reasons(play).at(-1)).toBe(`fail ${'é'.repeat(512)}`)
  })

  it('gives way to the reason of the author', () => {
    const play = fork()
    play.do({ op: 'abort', msg: 'late' }, { why: 'the limit' })
    expect(reasons(play).at(-1)).toBe('abort the limit')
  })
})

describe('retry without an event', () => {
  it('reopens what failed and leaves what an operator canceled', () => {
    const play = fork().after({ op: 'fail', event: '01.00' }, { op: 'cancel', event: '02.00' })
    expect(play.do({ op: 'retry' }).refused).toMatchObject([{ code: 'canceled', event: '02.00' }])
    expect([play.status('01.00'), play.status('02.00')]).toEqual(['init', 'canceled'])
  })

  it('refuses a stream that was canceled, also where an event had failed before', () => {
    const play = fork().after({ op: 'fail', event: '01.00' }, { op: 'cancel' })
    expect(play.refused({ op: 'retry' })).toMatchObject({
      code: 'canceled',
      message: '00 was canceled; retry it by name, or retry with --canceled',
    })
  })

  it('reopens canceled events as well if asked to', () => {
    const play = fork().after({ op: 'fail', event: '01.00' }, { op: 'cancel' }, { op: 'retry', canceled: true })
    expect([play.status('00'), play.status('01.00'), play.status('02.00')]).toEqual(['inprocess', 'init', 'init'])
  })

  it('reopens what was canceled because something above it failed', () => {
    const play = fork().after({ op: 'abort', msg: 'late' }, { op: 'retry' })
    expect([play.status('00'), play.status('01.00'), play.status('02.00')]).toEqual(['inprocess', 'init', 'init'])
  })
})

describe('the summary of failures', () => {
  it('counts failed and canceled events apart, and a cascade as one', () => {
    expect(summary(fork().after({ op: 'fail', event: '01.00' }))).toMatchObject({ failed: 1, canceled: 0 })
    expect(summary(fork().after({ op: 'cancel', event: '01.00' }))).toMatchObject({ failed: 0, canceled: 1 })
    expect(summary(fork().after({ op: 'cancel' }))).toMatchObject({ failed: 0, canceled: 1, outcome: 'errors' })
    expect(summary(fork().after({ op: 'abort' }))).toMatchObject({ failed: 1, canceled: 0 })
  })

  it('keeps the first failure when an operator ends the rest', () => {
    const play = fork().after({ op: 'fail', event: '01.00', msg: 'gateway' })
    play.wait(1_000).do({ op: 'cancel', msg: 'INC-9' })
    expect(summary(play)).toMatchObject({ failedId: '01.00', failure: 'gateway' })
    const aborted = fork().after({ op: 'fail', event: '01.00', msg: 'gateway' })
    aborted.wait(1_000).do({ op: 'abort', msg: 'INC-9' })
    expect(summary(aborted)).toMatchObject({ failedId: '01.00', failure: 'gateway', failedAtMs: aborted.nowMs })
  })

  it('names what was canceled where nothing failed', () => {
    expect(summary(fork().after({ op: 'cancel', msg: 'withdrawn' }))).toMatchObject({
      failedId: '00',
      failure: 'withdrawn',
    })
  })
})

describe('the summary of running events', () => {
  it('says who has what, since when, and when the claim ends', () => {
    const play = fork()
    const sinceMs = play.nowMs
    play.do(START)
    play.wait(5_000).do({ op: 'touch', event: '01.00', owner: 'w', claimMs: 60_000 })
    const { running, ready } = summary(play)
    expect(ready).toEqual(['B|'])
    expect(running.map(runningEvent)).toEqual([
      {
        id: '01.00',
        name: 'A',
        owner: 'w',
        attempt: 1,
        sinceMs,
        lastSeenMs: sinceMs + 5_000,
        claimEndMs: sinceMs + 65_000,
      },
    ])
  })

  it('does not list what was released or has ended', () => {
    expect(summary(fork().after(START, { op: 'release', event: '01.00', owner: 'w' })).running).toEqual([])
    expect(summary(fork().after(START, { op: 'complete', event: '01.00', owner: 'w' })).running).toEqual([])
  })

  it('counts what does not fit', () => {
    const play = Play.started(...Array.from({ length: 99 }, (_, at) => `Step ${at}`))
    const ids = play.document.events.slice(1).map(({ id }) => id)
    for (const event of ids) play.do({ ...START, event, owner: 'worker@host-1' })
    const { running } = summary(play)
    expect(running.length).toBeGreaterThan(5)
    expect(Number(running.at(-1))).toBe(99 - (running.length - 1))
    expect(runningEvent(running.at(-1) ?? '')).toBeUndefined()
  })
})

describe('ack', () => {
  it('acknowledges the failures so far', () => {
    const play = fork().after({ op: 'fail', event: '01.00', msg: 'gateway' })
    play.wait(1_000)
    expect(play.do({ op: 'ack' }, { why: 'INC-9' })).toMatchObject({ outcome: 'done', done: false })
    expect(summary(play)).toMatchObject({ ackMs: play.nowMs, failed: 1 })
    expect(reasons(play).at(-1)).toBe('ack INC-9')
  })

  it('is so already until the next failure', () => {
    const play = fork().after({ op: 'fail', event: '01.00' }, { op: 'ack' })
    expect(play.do({ op: 'ack' }).outcome).toBe('already')
    play.wait(1_000).do({ op: 'fail', event: '02.00' })
    expect(play.do({ op: 'ack' }).outcome).toBe('done')
  })

  it('is possible for a stream that has ended', () => {
    expect(fork().after({ op: 'abort' }).do({ op: 'ack' })).toMatchObject({ outcome: 'done', done: true })
  })

  it('is refused where nothing failed', () => {
    expect(fork().code({ op: 'ack' })).toBe('not-failed')
    expect(fork().after({ op: 'cancel' }).code({ op: 'ack' })).toBe('not-failed')
  })

  it('comes back where another writer dropped it', () => {
    const play = fork().after({ op: 'fail', event: '01.00' }, { op: 'ack' })
    play.edit(text => text.replace(/ lc:ack="[^"]*"/, ''))
    expect(summary(play.after({ op: 'settle' })).ackMs).toBeDefined()
  })
})
