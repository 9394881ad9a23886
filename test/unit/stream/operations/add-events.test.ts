import { describe, expect, it } from 'vitest'
import { BORN, documentText, Play, spec } from '../../../support/stream-builder.ts'

describe('init', () => {
  it('creates the document with its root, inprocess, version 1', () => {
    const play = new Play()
    const result = play.do({ op: 'init', root: spec('Start', { key: 'k', timeout: '01:00:00', onDue: 'notify' }) })
    expect(result).toMatchObject({ outcome: 'done', version: 1, added: ['00'], done: false, duplicate: false })
    expect(play.document).toMatchObject({
      element: 'EventStream',
      version: 1,
      born: BORN,
      at: '2024-05-01T12:00:00.000Z',
    })
    expect(play.event('00')).toMatchObject({
      name: 'Start',
      status: 'inprocess',
      key: 'k',
      timeout: '01:00:00',
      created: '2024-05-01T12:00:00.000Z',
      timestamp: '2024-05-01T12:00:00.000Z',
      lc: { onDue: 'notify' },
    })
    expect(play.event('00').lc.owner).toBeUndefined()
  })

  it('uses the stream identity that init was given', () => {
    const play = new Play()
    play.do({ op: 'init', born: 'a-life' }, { born: 'another' })
    expect(play.document.born).toBe('a-life')
  })

  it('with a first fork adds branches and lists the join last', () => {
    const play = Play.joined('Done', 'A', 'B')
    expect(play.statuses).toEqual(['00 inprocess', '01.00 init', '02.00 init', '01 inprocess'])
    expect(play.event('00').next).toBe('01.00|02.00|01')
    expect(play.document.events.map(event => event.prev)).toEqual(['', '00', '00', '00'])
  })

  it('with held leaves the root init', () => {
    const play = new Play().after({ op: 'init', hold: true })
    expect(play.status('00')).toBe('init')
  })

  it('writes into a document without Event and keeps its content', () => {
    const play = new Play('<Orders a="1"><!-- ours --><x/></Orders>')
    play.do({ op: 'init' })
    expect(play.document).toMatchObject({ element: 'Orders', version: 1 })
    expect(play.text).toMatch(/<!-- ours --><x\/>\n {2}<Event /)
  })

  it('continues the journal of a document whose events were removed', () => {
    const play = Play.started('A').edit(text => text.replace(/ *<Event [^>]*>\n/g, ''))
    play.do({ op: 'init' })
    expect(play.journal.map(tx => [tx.version, tx.op])).toEqual([
      [1, 'init'],
      [2, 'foreign'],
      [3, 'init'],
    ])
  })

  it('is refused exists if there is an event', () => {
    expect(Play.started().refused({ op: 'init' })).toMatchObject({ code: 'exists', event: '00', status: 'inprocess' })
    expect(new Play(documentText({ id: '7' })).refused({ op: 'init' }).message).toContain('of no status')
  })

  it('all other operations are refused not-started if there is no event', () => {
    const play = new Play('<EventStream/>')
    for (const given of [{ op: 'settle' }, { op: 'cancel' }, { op: 'start', event: '00' }] as const) {
      expect(play.code(given)).toBe('not-started')
    }
  })
})
