// child-top-frames SCREEN   time of a frame after a key, with few and with many streams; prints ms as JSON
import { setTimeout as sleep } from 'node:timers/promises'
import { DataStore } from '../../src/tui/data/store.ts'
import type { Painter } from '../../src/tui/ink/painter.ts'
import { inkOn, Sink } from './sink.ts'
import { TopApp } from './top-app.ts'
import { StreamsLoad } from './top-streams-load.ts'
import { OPEN, TreeLoad } from './top-tree-load.ts'

/** Median times, ms. */
export interface FrameCosts {
  readonly few: number
  readonly many: number
}

const [screen = ''] = process.argv.slice(2)
const ROUNDS = 40
const KEYS = 12
/** Ink writes at most 120 frames per second; with longer gaps it writes every frame immediately. */
const APART_MS = 10

class Easel {
  readonly #app: TopApp
  readonly costs: number[] = []
  #painter: Painter | undefined

  constructor(count: number) {
    const data = new DataStore()
    if (screen === 'tree') new TreeLoad(data, count)
    else new StreamsLoad(data, count)
    this.#app = new TopApp(data, screen === 'tree' ? OPEN : undefined, () => {})
  }

  async open(): Promise<void> {
    this.#painter = await inkOn(new Sink(() => {}), this.#app.frame(), costMs => this.costs.push(costMs))
  }

  async press(key: string): Promise<void> {
    this.#app.dispatch({ kind: 'key', press: { key, text: key } })
    this.#painter?.draw(() => this.#app.frame())
    await sleep(APART_MS)
  }
}

const easels = { few: new Easel(100), many: new Easel(10_000) }
await easels.few.open()
await easels.many.open()
for (let round = 0; round < ROUNDS; round++) {
  const key = round % 4 < 2 ? 'j' : 'k'
  for (const easel of round % 2 === 0 ? [easels.few, easels.many] : [easels.many, easels.few]) {
    for (let press = 0; press < KEYS; press++) await easel.press(key)
  }
}
const costs: FrameCosts = { few: median(easels.few.costs), many: median(easels.many.costs) }
console.log(JSON.stringify(costs))
// Ink listens to the input until the process ends.
process.exitCode = 0

function median(values: readonly number[]): number {
  // The frames of the warm-up do not count.
  const sorted = values.slice(values.length / 4).sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? Number.NaN
}
