// child-top PAINTER SCREEN SECONDS [keys]   draws the dashboard under load; prints its cost as JSON
import { setTimeout as sleep } from 'node:timers/promises'
import { DataStore } from '../../src/tui/data/store.ts'
import { type FrameClock, FrameScheduler } from '../../src/tui/terminal/frame-scheduler.ts'
import type { Frame } from '../../src/tui/view/row.ts'
import { RawWriter } from './raw-writer.ts'
import { inkOn, Sink } from './sink.ts'
import { TopApp } from './top-app.ts'
import { StreamsLoad } from './top-streams-load.ts'
import { OPEN, TreeLoad } from './top-tree-load.ts'

/** Result of one run. */
export interface TopRun {
  /** Processor time, ms per second. */
  readonly busyMs: number
  readonly frames: number
  readonly writes: number
  readonly bytes: number
  /** From each key to the write that shows its effect, ms. */
  readonly latenciesMs: readonly number[]
}

const [painterName = '', screen = '', seconds = '', keys = ''] = process.argv.slice(2)
const WARM_UP_MS = 1_000
const COUNT = 10_000
const CLOCK: FrameClock = {
  nowMs: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
  soon: queueMicrotask,
}

const written = { writes: 0, bytes: 0, frames: 0 }
/** Scheduled times of keys without a write yet; those already in a frame. */
const pending = { pressed: [] as number[], drawn: [] as number[], latencies: [] as number[] }

const data = new DataStore()
const load = screen === 'tree' ? new TreeLoad(data, COUNT) : new StreamsLoad(data, COUNT)
const app = new TopApp(data, screen === 'tree' ? OPEN : undefined, why =>
  why === 'input' ? gate.flush() : gate.request(),
)
const frame = (): Frame => {
  written.frames++
  pending.drawn.push(...pending.pressed.splice(0))
  return app.frame()
}
const sink = new Sink(length => {
  written.writes++
  written.bytes += length
  const nowMs = performance.now()
  pending.latencies.push(...pending.drawn.splice(0).map(sinceMs => nowMs - sinceMs))
})
const painter =
  painterName === 'raw' ? new RawWriter(sink) : await inkOn(sink, app.frame(), costMs => gate.recordCost(costMs))
const gate = new FrameScheduler(() => painter.draw(frame), CLOCK)
const stops = [feed(), ...(keys === 'keys' ? [press()] : [])]
await sleep(WARM_UP_MS)
const before = { ...written, cpu: process.cpuUsage(), atMs: performance.now(), keys: pending.latencies.length }
await sleep(Number(seconds) * 1_000)
const { user, system } = process.cpuUsage(before.cpu)
const tookS = (performance.now() - before.atMs) / 1_000
const run: TopRun = {
  busyMs: (user + system) / 1_000 / tookS,
  frames: (written.frames - before.frames) / tookS,
  writes: (written.writes - before.writes) / tookS,
  bytes: (written.bytes - before.bytes) / tookS,
  latenciesMs: pending.latencies.slice(before.keys),
}
for (const stop of stops) stop()
gate.close()
painter.close()
console.log(JSON.stringify(run))

/** 3 000 changes per second: streams in small batches, the open stream as four whole states per second. */
function feed(): () => void {
  const everyMs = screen === 'tree' ? 250 : 1_000 / 30
  const count = screen === 'tree' ? 750 : 100
  return often(everyMs, () => load.change(count))
}

/** Presses down and up at intervals; latency counts from the scheduled time, however late the timer fires. */
function press(): () => void {
  let presses = 0
  return often(47, dueMs => {
    pending.pressed.push(dueMs)
    const key = ++presses % 40 < 20 ? 'j' : 'k'
    app.dispatch({ kind: 'key', press: { key, text: key } })
  })
}

/** Keeps the rate under any load. @returns a function that stops it */
function often(everyMs: number, act: (dueMs: number) => void): () => void {
  let dueMs = performance.now() + everyMs
  let timer = setTimeout(turn, everyMs)
  return () => clearTimeout(timer)

  function turn(): void {
    for (; dueMs <= performance.now(); dueMs += everyMs) act(dueMs)
    timer = setTimeout(turn, Math.max(0, dueMs - performance.now()))
  }
}
