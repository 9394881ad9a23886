import { describe, expect, it } from 'vitest'
import { findForeignWrite } from '../../../../src/stream/journal/history.ts'
import { documentText, Play, spec } from '../../../support/stream-builder.ts'

const adopted = () =>
  new Play(documentText({ id: '00', status: 'inprocess', next: '01.00' }, { id: '01.00', status: 'init', prev: '00' }))

describe('a document of another writer', () => {
  it('is version 0; the first transaction writes adopt as version 1 and itself as 2, and sets an incarnation id', () => {
    const play = adopted()
    expect(play.document.version).toBe(0)
    expect(play.do({ op: 'start', event: '01.00' }, { born: 'new' })).toMatchObject({ version: 2, claim: { fence: 2 } })
    expect(play.document).toMatchObject({ version: 2, born: 'new' })
    expect(play.journal).toMatchObject([
      {
        version: 1,
        op: 'adopt',
        by: '',
        commandId: '',
        changes: [
          { event: '00', from: '', to: 'inprocess', how: 'add' },
          { event: '01.00', from: '', to: 'init', how: 'add' },
        ],
      },
      { version: 2, op: 'start' },
    ])
  })

  it('gets a fixed reading of its dates with the first transaction', () => {
    const play = new Play(documentText({ id: '00', status: 'inprocess', created: '13/04/2024 10:00:00' }))
    play.do({ op: 'set', event: '00', attributes: { tag: 't' } })
    expect(play.document.dates).toBe('dmy')
  })
})

describe('a foreign write', () => {
  it('becomes an entry with its own version before the transaction that finds it', () => {
    const play = Play.started('A', 'B').legacy(stream => stream.setStatus('01.00', 'inprocess'))
    const result = play.do({ op: 'complete', event: '02.00' })
    expect(result.version).toBe(3)
    expect(play.journal[1]).toMatchObject({
      version: 2,
      op: 'foreign',
      by: '',
      commandId: '',
      other: false,
      changes: [{ event: '01.00', from: 'init', to: 'inprocess', how: 'target' }],
    })
  })

  it('that changes only other attributes is recorded as other', () => {
    const play = Play.started('A').edit(text => text.replace(' id="01.00"', ' id="01.00" tag="x"'))
    play.do({ op: 'complete', event: '01.00' })
    expect(play.journal[1]).toMatchObject({ op: 'foreign', other: true, changes: [] })
  })

  it('that adds or removes events, or removes a status, is recorded', () => {
    const play = Play.started('A', 'B', 'C')
    play.edit(text =>
      text
        .replace(/ *<Event [^>]*id="02.00"[^>]*>\n/, '  <Event id="09.00" prev="00"/>\n')
        .replace(/status="init"( id="03.00")/, '$1'),
    )
    play.do({ op: 'complete', event: '01.00' })
    expect(play.journal[1]?.changes).toEqual([
      { event: '09.00', from: '', to: '', how: 'add' },
      { event: '03.00', from: 'init', to: '', how: 'add' },
      { event: '02.00', from: 'init', to: '', how: 'target' },
    ])
    play.do({ op: 'complete', event: '09.00' })
    expect(play.journal.map(tx => tx.op)).toEqual(['init', 'foreign', 'complete', 'complete'])
  })

  it('is not assumed if only the layout changed, or if the sum is of another kind', () => {
    const play = Play.started('A').legacy(() => {}, { indent: false })
    expect(findForeignWrite(play.document, 0)).toBeUndefined()
    play.edit(text => text.replace('lc:sum="2:', 'lc:sum="3:')).legacy(stream => stream.setStatus('01.00', 'inprocess'))
    expect(findForeignWrite(play.document, 0)).toBeUndefined()
  })

  it('is assumed if the sum was dropped', () => {
    const play = Play.started('A').edit(text => text.replace(/ lc:sum="[^"]*"/, ''))
    expect(findForeignWrite(play.document, 0)).toMatchObject({ op: 'foreign', changes: [], other: true })
  })

  it('found by a refused operation is left for the next transaction', () => {
    const play = Play.started('A').legacy(stream => stream.setStatus('01.00', 'inprocess'))
    expect(play.code({ op: 'start', event: '01.00' })).toBe('foreign-worker')
    expect(play.document.version).toBe(1)
  })
})

describe('a writer that recreates events and drops our attributes', () => {
  const rebuild = { rebuildEvents: true }

  it('leaves a waiting join waiting', () => {
    const play = Play.joined('J', 'A', 'B').legacy(stream => stream.setStatus('01.00', 'completed'), rebuild)
    expect(play.event('01').lc.join).toBeUndefined()
    expect(play.code({ op: 'start', event: '01', takeOver: true })).toBe('join-waiting')
    expect(play.do({ op: 'complete', event: '02.00' }).joined).toEqual(['01'])
  })

  it('leaves the fence valid and the claim expired: the holder continues unless another claims first', () => {
    const play = Play.started('A', 'B').after({ op: 'start', event: '01.00' })
    play.legacy(stream => stream.setStatus('02.00', 'inprocess'), rebuild)
    expect(play.do({ op: 'touch', event: '01.00', fence: 2 }).claim).toMatchObject({
      owner: 'w1',
      fence: 2,
      attempt: 1,
    })
    play.legacy(() => {}, rebuild)
    expect(play.do({ op: 'start', event: '01.00', owner: 'w2' }).claim).toMatchObject({ attempt: 2 })
    expect(play.code({ op: 'complete', event: '01.00', fence: 2 })).toBe('fenced')
  })

  it('leaves a join waiting that a retry restored, whether it was released or canceled before', () => {
    const released = Play.joined('J', 'A').after({ op: 'fail', event: '01.00' }, { op: 'retry', event: '01.00' })
    const canceled = Play.joined('J', 'A').after({ op: 'cancel', event: '01' }, { op: 'retry', event: '01' })
    for (const play of [released, canceled]) {
      play.legacy(() => {}, rebuild).do({ op: 'settle' })
      expect(play.event('01')).toMatchObject({ status: 'inprocess', lc: { wait: 'yes', join: 'wait' } })
    }
  })

  it('cannot have a waiting join claimed too early by making it init', () => {
    const play = Play.joined('J', 'A').legacy(stream => stream.setStatus('01', 'init'), rebuild)
    expect(play.code({ op: 'start', event: '01' })).toBe('join-waiting')
    expect(play.do({ op: 'complete', event: '01.00' })).toMatchObject({ joined: ['01'] })
  })

  it('does not restore a claim that it ended, nor one that we dropped', () => {
    const play = Play.started('A', 'B').after({ op: 'start', event: '01.00' }, { op: 'start', event: '02.00' })
    play.do({ op: 'release', event: '02.00', fence: 3 })
    play.legacy(stream => stream.setStatus('01.00', 'aborted'), rebuild).do({ op: 'start', event: '02.00' })
    expect(play.event('01.00').lc).toEqual({ attempt: '1' })
  })

  it('does not undo a retry: attempts, openings and replaced messages are restored', () => {
    const play = Play.started('A', 'B').after(
      { op: 'advance', event: '01.00', next: spec('C') },
      { op: 'fail', event: '01.01' },
    )
    play.after({ op: 'abort', event: '02.00' }).wait(1_000).after({ op: 'retry', event: '02.00' })
    for (const name of ['D', 'E']) {
      play.after({ op: 'abort' }, { op: 'retry', event: '00' }, { op: 'advance', event: '00', next: spec(name) })
    }
    const before = play.document.events.map(event => event.lc)
    play.legacy(stream => stream.setStatus('02', 'inprocess'), rebuild)
    expect(play.do({ op: 'settle' }).outcome).toBe('done')
    expect(play.document.events.map(({ lc: { msg: _, outcome: __, failed: ___, ...lc } }) => lc)).toEqual(
      before.map(({ msg: _, outcome: __, failed: ___, ...lc }) => lc),
    )
    expect(play.event('00').status).toBe('inprocess')
  })

  it('makes a heartbeat write the lost attributes', () => {
    const play = Play.joined('J', 'A')
      .after({ op: 'start', event: '01.00' })
      .legacy(() => {}, rebuild)
    play.do({ op: 'touch', event: '01.00', fence: 2 })
    expect(play.event('01').lc.join).toBe('wait')
    expect(play.journal.map(tx => [tx.op, tx.changes.length])).toEqual([
      ['init', 3],
      ['start', 1],
      ['foreign', 0],
      ['settle', 0],
    ])
  })
})
