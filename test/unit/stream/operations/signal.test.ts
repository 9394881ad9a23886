import { describe, expect, it } from 'vitest'
import { dataOf } from '../../../../src/stream/data.ts'
import type { EventSpec, StepSpec } from '../../../../src/stream/operations/operation.ts'
import { MAX_KEPT_SIGNALS, signalOf } from '../../../../src/stream/signal.ts'
import { scanDocument } from '../../../../src/stream/xml/fast-read.ts'
import { parseDocument } from '../../../../src/stream/xml/read.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'
import { Play, spec } from '../../../support/stream-builder.ts'

const BORN = '11111111-1111-4111-8111-111111111111'
const HOUR = 3_600_000

/** An event that waits for a signal. */
function waiting(name: string, more: Partial<EventSpec> = {}): EventSpec {
  return { ...spec(name), signal: 'go', ...more }
}

function started(...forks: readonly EventSpec[]): Play {
  return new Play().after({ op: 'init', root: spec('Start'), forks })
}

const kept = (play: Play) => play.document.signals.map(({ name }) => name)

describe('a signal', () => {
  it('opens the gate of the event with the lowest id that waits for it, and of no other', () => {
    const play = started(waiting('A'), waiting('B'), spec('C'))
    expect(play.do({ op: 'signal', name: 'go' })).toMatchObject({ outcome: 'done', opened: ['01.00'] })
    expect(play.status('01.00')).toBe('init')
    expect(play.event('02.00')).toMatchObject({ status: 'inprocess', lc: { wait: 'yes', signal: 'go' } })
    expect(play.do({ op: 'signal', name: 'go' }).opened).toEqual(['02.00'])
  })

  it('opens the gates of all events that wait for it on request', () => {
    const play = started(waiting('A'), waiting('B'), waiting('C', { signal: 'stop' }))
    expect(play.do({ op: 'signal', name: 'go', every: true }).opened).toEqual(['01.00', '02.00'])
    expect(play.event('03.00').lc.signal).toBe('stop')
  })

  it('gives its data to the event as its input, in place of an earlier one', () => {
    const play = started(waiting('A', { data: dataOf(Buffer.from('old')) }))
    play.do({ op: 'signal', name: 'go', data: dataOf(Buffer.from('new')) })
    expect(play.event('01.00').input?.text).toBe('new')
  })

  it('leaves the input of the event alone if it has no data', () => {
    const play = started(waiting('A', { data: dataOf(Buffer.from('own')) }))
    play.do({ op: 'signal', name: 'go' })
    expect(play.event('01.00').input?.text).toBe('own')
  })

  it('completes an event that needs no worker', () => {
    const play = started(waiting('A', { auto: true }))
    expect(play.do({ op: 'signal', name: 'go' })).toMatchObject({ done: true })
    expect(play.status('01.00')).toBe('completed')
  })

  it('takes only itself out of a gate that has more conditions, and the journal knows', () => {
    const play = started(spec('A'))
    play.do({ op: 'advance', event: '00', more: true, forks: [waiting('B', { after: ['01.00'] })] })
    expect(play.do({ op: 'signal', name: 'go' }).opened).toEqual([])
    expect(play.event('02.00').lc).toMatchObject({ wait: 'yes', after: '01.00' })
    expect(play.event('02.00').lc.signal).toBeUndefined()
    play.legacy(() => undefined, { rebuildEvents: true })
    expect(play.do({ op: 'complete', event: '01.00' }).opened).toEqual(['02.00'])
  })

  it('begins the delay of an event that has nothing else to wait for', () => {
    const play = started(waiting('A', { delay: '01:00:00' }))
    play.do({ op: 'signal', name: 'go' })
    expect(play.event('01.00').lc).toMatchObject({ wait: 'yes', wake: new Date(play.nowMs + HOUR).toISOString() })
  })

  it('is given once by a repeated command id', () => {
    const play = started(waiting('A'), waiting('B'))
    const first = play.do({ op: 'signal', name: 'go' }, { commandId: 'x' })
    expect(play.do({ op: 'signal', name: 'go' }, { commandId: 'x' })).toMatchObject({
      ...{ duplicate: true, outcome: 'already', opened: first.opened },
    })
    expect(play.status('02.00')).toBe('inprocess')
    expect(play.code({ op: 'signal', name: 'other' }, { commandId: 'x' })).toBe('command-id-reused')
  })

  it('names itself in the journal, whatever its name', () => {
    const play = started(spec('A')).after({ op: 'signal', name: 'with blanks & "more" %' })
    expect(play.journal.map(signalOf)).toEqual([undefined, 'with blanks & "more" %'])
  })

  it('is accepted by a suspended stream and a held one, and refused by a final one', () => {
    const play = started(waiting('A')).after({ op: 'suspend' })
    expect(play.do({ op: 'signal', name: 'go' }).opened).toEqual(['01.00'])
    play.after({ op: 'cancel' })
    expect(play.code({ op: 'signal', name: 'go' })).toBe('already-final')
    const held = new Play().after({ op: 'init', root: spec('Start'), forks: [waiting('A')], hold: true })
    expect(held.do({ op: 'signal', name: 'go' }).opened).toEqual(['01.00'])
  })
})

describe('a signal that no event waits for', () => {
  it('is kept with its data for the first event that waits for it', () => {
    const play = started(spec('A')).after(
      { op: 'signal', name: 'go', data: dataOf(Buffer.from('1')) },
      { op: 'signal', name: 'stop' },
      { op: 'signal', name: 'go', data: dataOf(Buffer.from('2')) },
    )
    expect(kept(play)).toEqual(['go', 'stop', 'go'])
    const result = play.do({
      op: 'advance',
      event: '00',
      more: true,
      forks: [waiting('B'), waiting('C'), waiting('D')],
    })
    expect(result.opened).toEqual(['02.00', '03.00'])
    expect(['02.00', '03.00'].map(id => play.event(id).input?.text)).toEqual(['1', '2'])
    expect(play.event('04.00').lc.signal).toBe('go')
    expect(kept(play)).toEqual(['stop'])
  })

  it('is taken by an event that a retry closes again', () => {
    const steps: StepSpec[] = [
      { ...spec('A'), thread: 0, needs: [] },
      { ...waiting('B'), thread: 0, needs: [0] },
    ]
    const play = new Play()
    play.do({ op: 'init', root: spec('Start'), forks: [spec('Other')], steps, hold: false, born: BORN })
    play.after({ op: 'fail', event: '02.00' })
    expect(play.status('02.01')).toBe('canceled')
    play.after({ op: 'signal', name: 'go' })
    expect(kept(play)).toEqual(['go'])
    play.after({ op: 'retry', event: '02.00' })
    expect(kept(play)).toEqual([])
    expect(play.event('02.01').lc).toMatchObject({ wait: 'yes', after: '02.00' })
    expect(play.do({ op: 'complete', event: '02.00' }).opened).toEqual(['02.01'])
  })

  it('is taken by an event of a foreign writer', () => {
    const play = started(spec('A')).after({ op: 'signal', name: 'go' })
    const added = '<Event name="B" status="inprocess" id="02.00" prev="00" lc:wait="yes" lc:signal="go"/>'
    play.edit(text =>
      text.replace('next="01.00"', 'next="01.00|02.00"').replace('<lc:signals>', `${added}<lc:signals>`),
    )
    expect(play.do({ op: 'settle' }).opened).toEqual(['02.00'])
    expect(kept(play)).toEqual([])
  })

  it('is refused signals-full beside a hundred others, unless an event waits for it', () => {
    const play = started(waiting('A'))
    for (let at = 0; at < MAX_KEPT_SIGNALS; at++) play.do({ op: 'signal', name: `s${at}` })
    expect(play.code({ op: 'signal', name: 'one more' })).toBe('signals-full')
    expect(play.do({ op: 'signal', name: 'go' }).opened).toEqual(['01.00'])
    expect(kept(play)).toHaveLength(MAX_KEPT_SIGNALS)
  })

  it('survives writing and reading, and a writer that uses another prefix and other white space', () => {
    const play = started(spec('A')).after(
      { op: 'signal', name: 'a "b" <c>', data: dataOf(Buffer.from('x\n<y>')) },
      { op: 'signal', name: 'plain' },
    )
    const { signals } = play.document
    expect(signals).toHaveLength(2)
    expect(play.text).toContain('<lc:signals><lc:signal name="a &quot;b&quot; &lt;c&gt;"')
    const odd = play.text
      .replaceAll('lc:', 'x:')
      .replace('xmlns:lc', 'xmlns:x')
      .replaceAll('<x:signal ', '\n      <x:signal ')
    expect(parseDocument(odd).signals).toEqual(signals)
    expect(parseDocument(writeDocument(parseDocument(odd)).text).signals).toEqual(signals)
  })

  it('leaves documents without signals to the fast reader', () => {
    const play = started(spec('A'))
    expect(scanDocument(play.text)?.signals).toEqual([])
    play.after({ op: 'signal', name: 'go' })
    expect(parseDocument(play.text).signals).toHaveLength(1)
  })
})
