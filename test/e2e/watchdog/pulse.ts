import { setTimeout as sleep } from 'node:timers/promises'
import type { StreamStore } from '../../../src/store/store.ts'

const EVERY_MS = 250

/** Measures the speed of machine and store during another measurement: a read, repeatedly. */
export interface Pulse {
  /** The longest time of one read, including its wait in the queue, ms. */
  readonly slowestMs: number
  stop(): Promise<void>
}

export function takePulse(store: StreamStore, stream: string): Pulse {
  const end = new AbortController()
  let slowestMs = 0
  const beats = (async () => {
    while (!end.signal.aborted) {
      const startedAt = performance.now()
      await sleep(EVERY_MS, undefined, { signal: end.signal }).catch(() => {})
      await store.read(stream)
      if (!end.signal.aborted) slowestMs = Math.max(slowestMs, performance.now() - startedAt - EVERY_MS)
    }
  })()
  return {
    get slowestMs() {
      return Math.ceil(slowestMs)
    },
    async stop() {
      end.abort()
      await beats
    },
  }
}
