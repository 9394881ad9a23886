import { describe, expect, it } from 'vitest'
import { documentText, Play } from '../../../support/stream-builder.ts'
import { course, courses, iso } from './courses.ts'

const SECOND = 1_000

describe('beside other writers that keep no journal', () => {
  const others = () =>
    new Play(
      documentText(
        { id: '00', status: 'inprocess', created: iso(-60), timestamp: iso(-60), next: '01|02|03' },
        { id: '01', status: 'completed', created: iso(-50), timestamp: iso(-30), prev: '00' },
        { id: '02', status: 'inprocess', created: iso(-50), timestamp: iso(-20), prev: '00' },
        { id: '03', status: 'init', created: iso(-50), timestamp: iso(-50), prev: '00' },
      ),
    )

  it('a document that was never ours shows its created and timestamp times', () => {
    const play = others()
    expect(course(play, '01')).toBe('unrecorded -50--30, completed -30')
    expect(course(play, '02')).toBe('unrecorded -50--20, running -20-')
    expect(course(play, '03')).toBe('ready -50-')
    expect(course(play, '00')).toBe('waiting -60-')
  })

  it('the time before its adoption is not recorded', () => {
    const play = others().after({ op: 'start', event: '03' })
    expect(course(play, '01')).toBe('unrecorded -50--30, completed -30')
    expect(course(play, '02')).toBe('unrecorded -50-0, running 0-')
    expect(course(play, '03')).toBe('unrecorded -50-0, running 0-')
    expect(course(play, '00')).toBe('unrecorded -60-0, waiting 0-')
  })

  it('an end that is found later has the time that its writer gave it', () => {
    const play = Play.started('A', 'B').wait(10 * SECOND)
    play.edit(text =>
      text.replace(/status="init" id="01.00" created="([^"]*)" timestamp="[^"]*"/, (_, created) => {
        return `status="completed" id="01.00" created="${created}" timestamp="${iso(7)}"`
      }),
    )
    play.wait(50 * SECOND).after({ op: 'start', event: '02.00' })
    expect(course(play, '01.00')).toBe('ready 0-7, completed 7')
  })

  it('an event whose times cannot be read is omitted', () => {
    const play = new Play(documentText({ id: '00', status: 'inprocess', created: 'long ago' }))
    expect(courses(play).get('00')).toBeUndefined()
  })

  /** 00 is ours, with the branches 01.00 and 02.00; ten seconds have passed. */
  const ours = () => Play.started('A', 'B').wait(10 * SECOND)
  const withStatus = (play: Play, id: string, status: string, timestamp: string) =>
    play.edit(text =>
      text.replace(new RegExp(`status="\\w*" (id="${id}" created="[^"]*") timestamp="[^"]*"`), (_, kept) => {
        return `status="${status}" ${kept} timestamp="${timestamp}"`
      }),
    )
  const settled = (play: Play) =>
    play.wait(5 * SECOND).after({ op: 'set', event: '00', attributes: { tag: `at ${play.nowMs}` } })

  it('an end with an unreadable or a future time gets the time it was found; no end precedes its beginning', () => {
    expect(course(settled(withStatus(ours(), '01.00', 'aborted', 'late')), '01.00')).toBe('ready 0-15, aborted 15')
    expect(course(settled(withStatus(ours(), '01.00', 'aborted', iso(99))), '01.00')).toBe('ready 0-15, aborted 15')
    expect(course(settled(withStatus(ours(), '01.00', 'aborted', iso(-9))), '01.00')).toBe('aborted 0')
  })

  it('an event that another writer works on runs from the time this was found, and is ready again when released', () => {
    const play = settled(withStatus(ours(), '01.00', 'inprocess', iso(8)))
    expect(course(play, '01.00')).toBe('ready 0-15, running 15-')
    expect(course(settled(withStatus(play, '01.00', 'init', iso(17))), '01.00')).toBe(
      'ready 0-15, running 15-20, ready 20-',
    )
  })

  it('an event that another writer reopens after its end begins again and ends again', () => {
    const play = ours().after({ op: 'fail', event: '01.00' })
    settled(withStatus(play, '01.00', 'init', iso(11)))
    expect(course(play, '01.00')).toBe('ready 0-10, ready 15-, aborted 10')
    settled(withStatus(play, '01.00', 'completed', iso(18)))
    expect(course(play, '01.00')).toBe('ready 0-10, ready 15-18, aborted 10, completed 18')
  })

  it('an event that another writer removed is gone from the time this was found; an event put back is found again', () => {
    const play = ours()
    const [line = ''] = / {2}<Event [^>]* id="02.00"[^>]*>\n/.exec(play.text) ?? []
    const links = / next="01.00\|02.00"/
    settled(play.edit(text => text.replace(line, '').replace(links, ' next="01.00"')))
    expect(courses(play).get('02.00')).toBeUndefined()
    play.edit(text =>
      text
        .replace(/( {2}<Event [^>]* id="01.00"[^>]*>\n)/, `$1${line}`)
        .replace(' next="01.00"', ' next="01.00|02.00"'),
    )
    settled(play)
    expect(course(play, '02.00')).toBe('ready 0-15, ready 20-')
    expect(course(play, '00')).toBe('waiting 0-')
  })

  it('an event that another writer adds is not recorded before it is found', () => {
    const added = (status: string, created = iso(2), timestamp = iso(4)) => {
      const event = `<Event status="${status}" id="03.00" created="${created}" timestamp="${timestamp}" prev="00"/>`
      const play = ours().edit(text =>
        text.replace('|02.00"', '|02.00|03.00"').replace('  <lc:journal', `  ${event}\n  <lc:journal`),
      )
      settled(play)
      expect(courses(play).get('03.00')?.foundLate).toBe(true)
      expect(courses(play).get('01.00')?.foundLate).toBe(false)
      return course(play, '03.00')
    }
    expect(added('init')).toBe('unrecorded 2-15, ready 15-')
    expect(added('')).toBe('unrecorded 2-15, ready 15-')
    expect(added('inprocess')).toBe('unrecorded 2-15, running 15-')
    expect(added('completed')).toBe('unrecorded 2-4, completed 4')
    expect(added('completed', iso(4))).toBe('completed 4')
    expect(added('completed', iso(6))).toBe('completed 4')
    expect(added('completed', 'long ago')).toBe('completed 4')
    expect(added('init', 'long ago')).toBe('ready 15-')
    expect(added('init', iso(15))).toBe('ready 15-')
  })

  it('a join that waits is recognized by its attribute if the journal has no entry for it', () => {
    const play = new Play(
      documentText(
        { id: '00', status: 'inprocess', created: iso(-9), timestamp: iso(-9), next: '01.00|01' },
        { id: '01.00', status: 'init', created: iso(-9), timestamp: iso(-9), prev: '00' },
        {
          id: '01',
          status: 'inprocess',
          created: iso(-9),
          timestamp: iso(-3),
          prev: '00',
          'lc:wait': 'yes',
          'lc:join': 'wait',
        },
      ),
    )
    expect(course(play, '01')).toBe('unrecorded -9--3, waiting -3-')
    expect(courses(play).get('01')?.foundLate).toBe(true)
    play.after({ op: 'start', event: '01.00' })
    expect(course(play, '01')).toBe('unrecorded -9-0, waiting 0-')
    play.wait(SECOND).after({ op: 'complete', event: '01.00', owner: 'w1' })
    expect(course(play, '01')).toBe('unrecorded -9-0, waiting 0-1, ready 1-')
  })

  it('missing successors keep an event waiting', () => {
    const play = new Play(
      documentText(
        { id: '00', status: 'inprocess', created: iso(-9), timestamp: iso(-9), next: '01|02' },
        { id: '01', status: 'inprocess', created: iso(-9), timestamp: iso(-9), prev: '00', next: '07' },
        { id: '02', status: 'init', created: iso(-9), timestamp: iso(-9), prev: '00' },
      ),
    )
    expect(course(play, '01')).toBe('waiting -9-')
    play.after({ op: 'start', event: '02' })
    expect(course(play, '01')).toBe('unrecorded -9-0, waiting 0-')
  })

  it('an event with only one of its times counts from that one', () => {
    const known = (times: { created?: string; timestamp?: string }, status = 'completed') =>
      course(new Play(documentText({ id: '00', status, ...times })), '00')
    expect(known({ created: iso(-5) })).toBe('completed -5')
    expect(known({ timestamp: iso(-5) })).toBe('completed -5')
    expect(known({ created: iso(-5), timestamp: iso(-7) })).toBe('completed -5')
    expect(known({ timestamp: iso(-5) }, 'init')).toBe('ready -5-')
    expect(known({ timestamp: iso(-5) }, 'inprocess')).toBe('running -5-')
  })
})
