import { describe, expect, it } from 'vitest'
import { Play, START_MS } from '../../../support/stream-builder.ts'
import { openStream } from '../support/open-stream.ts'
import { Stage } from '../support/stage.ts'
import { worldWith } from '../support/world.ts'

const MINUTE = 60_000
const play = Play.started('A', 'B')
play.do({ op: 'start', event: '01.00', owner: 'w', claimMs: 9 * MINUTE })
play.wait(MINUTE).do({ op: 'complete', event: '01.00', owner: 'w' })
play.wait(8 * MINUTE).do({ op: 'start', event: '02.00', owner: 'w', claimMs: 9 * MINUTE })
play.wait(MINUTE).do({ op: 'complete', event: '02.00', owner: 'w' })

/** The timeline of ten minutes: 01.00 ran in the first, 02.00 in the last. */
const stage = () =>
  new Stage(worldWith({ streams: ['a', 'b'], open: openStream('a', play) }), { stream: 'a' }).press('t')
const seconds = ({ state: { zoom } }: Stage) =>
  zoom && [Math.round((zoom.fromMs - START_MS) / 1_000), Math.round((zoom.toMs - START_MS) / 1_000)]

describe('the timeline', () => {
  it('zooms around the event under the cursor', () => {
    expect(seconds(stage().press('j', '+'))).toEqual([0, 300])
    expect(seconds(stage().press('j', 'j', '+'))).toEqual([300, 600])
    expect(seconds(stage().press('j', 'j', '+', '=', '+'))).toEqual([525, 600])
  })

  it('zooms out to everything', () => {
    expect(seconds(stage().press('j', '+', '+', '-'))).toEqual([0, 300])
    expect(seconds(stage().press('j', '+', '+', '-', '-'))).toBeUndefined()
  })

  it('pans by a quarter, and stays within the stream', () => {
    expect(seconds(stage().press('j', '+', ']'))).toEqual([75, 375])
    expect(seconds(stage().press('j', '+', ']', '['))).toEqual([0, 300])
    expect(seconds(stage().press('j', '+', '[', '['))).toEqual([0, 300])
    expect(seconds(stage().press('j', '+', ']', ']', ']', ']', ']'))).toEqual([300, 600])
    expect(stage().press(']').notice).toBe('everything is shown: + zooms in')
  })

  it('shows everything again with 0, and of another stream', () => {
    expect(stage().press('+', '0').state.zoom).toBeUndefined()
    expect(stage().press('+', '1', 'j', 'enter').state).toMatchObject({ stream: 'b', zoom: undefined })
    expect(stage().press('+', '1', 'enter').state.zoom).toBeDefined()
  })

  it('has a shortest period', () => {
    const there = stage().press(...Array.from({ length: 20 }, () => '+'))
    expect(there.notice).toBe('no shorter period can be shown')
    const [from = 0, to = 0] = seconds(there) ?? []
    expect(to - from).toBeLessThanOrEqual(2)
  })

  it('has its keys to itself', () => {
    expect(stage().press('t', '+', '0', ']').state.zoom).toBeUndefined()
    expect(stage().press('-').state.folded.size).toBe(0)
  })
})
