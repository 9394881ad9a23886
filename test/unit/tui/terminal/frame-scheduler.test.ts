import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type FrameClock, FrameScheduler } from '../../../../src/tui/terminal/frame-scheduler.ts'

const clock: FrameClock = {
  nowMs: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
  soon: run => queueMicrotask(run),
}

describe('the frame scheduler', () => {
  let startMs = 0
  let drawn: number[] = []
  let gate: FrameScheduler
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    startMs = Date.now()
    drawn = []
    gate = new FrameScheduler(() => drawn.push(Date.now() - startMs), clock)
  })
  afterEach(() => void vi.useRealTimers())

  /** This number of changes, one per millisecond. */
  async function changes(count: number): Promise<void> {
    for (let at = 0; at < count; at += 1) {
      gate.request()
      await vi.advanceTimersByTimeAsync(1)
    }
  }

  test('the first change is drawn without delay', async () => {
    gate.request()
    await vi.advanceTimersByTimeAsync(0)
    expect(drawn).toEqual([0])
  })

  test('data are drawn at most every 33 ms, however often they change, and the last change is drawn', async () => {
    await changes(80)
    await vi.advanceTimersByTimeAsync(1000)
    expect(drawn).toEqual([0, 33, 66, 99])
  })

  test('a slow frame makes the next one wait four times as long', async () => {
    gate.recordCost(25)
    await changes(250)
    expect(drawn).toEqual([0, 100, 200])
  })

  test('keys are drawn at once; simultaneous ones share a frame', async () => {
    gate.recordCost(50)
    await changes(5)
    gate.flush()
    gate.flush()
    gate.request()
    await Promise.resolve()
    expect(drawn).toEqual([0, 5])
  })

  test('the frame of a key shows waiting data too: it counts as the last frame', async () => {
    await changes(10)
    gate.flush()
    await changes(40)
    expect(drawn).toEqual([0, 10, 43])
  })

  test('nothing is drawn after the end', async () => {
    await changes(2)
    gate.flush()
    gate.close()
    await changes(100)
    gate.flush()
    await vi.advanceTimersByTimeAsync(100)
    expect(drawn).toEqual([0])
  })
})
