import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore } from '../../src/store/open.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { startAzurite } from '../../test/support/azurite.ts'
import { interleave } from './interleave.ts'
import { processorMs } from './processor-time.ts'
import { change, createStream, tagging } from './streams.ts'
import { timeProcess } from './time-process.ts'
import { withTop } from './top-process.ts'
import { FIRST, setAge, topStore } from './top-store.ts'
import { OPEN } from './top-tree-load.ts'

const STREAMS = 10_000
const EVENTS = 10_000
/** The documents with the next limits are read first, some each second. */
const SETTLE_MS = 10_000
const WATCHED_MS = 8_000
const CHANGES_A_SECOND = 50

/** The share of a core it uses while only time passes, with streams of this age. */
export async function restShare(program: string, folder: string, ageMs: number): Promise<number> {
  const file = join(folder, `rest-${ageMs}.db`)
  await topStore(file, STREAMS)
  setAge(file, ageMs)
  return withTop(program, ['--interval', '1s', '--store', `sqlite:${file}`], async top => {
    await top.until(FIRST)
    return shareOf(top.pid)
  })
}

/** Ms until the first stream is on the screen, and of `node -e ""`. */
export async function firstFrames(program: string, folder: string, rounds: number) {
  const file = join(folder, 'start.db')
  await topStore(file, STREAMS)
  return interleave(
    {
      node: () => timeProcess([process.execPath, '-e', '']),
      top: async () => {
        const startMs = performance.now()
        return withTop(program, ['--store', `sqlite:${file}`], async top => {
          await top.until(FIRST)
          return performance.now() - startMs
        })
      },
    },
    rounds,
  )
}

/** Peak memory after all streams were shown, with a large open stream that changes occasionally, MB. */
export async function peakMemory(program: string, folder: string): Promise<number> {
  const file = join(folder, 'memory.db')
  await topStore(file, STREAMS, EVENTS)
  const store = await openStore(`sqlite:${file}`, {})
  try {
    return await withTop(program, ['--store', `sqlite:${file}`], async top => {
      await top.until(FIRST)
      top.type('\r')
      await top.until('SearchStart')
      for (let at = 1; at <= 8; at++) {
        await change(store, OPEN, tagging(`0${at}.01.00`))
        top.type(at % 2 === 0 ? 'g' : 'G')
        await sleep(1_000)
      }
      return top.peakMb()
    })
  } finally {
    await store.close()
  }
}

/** The share of a core it uses while the store changes constantly. */
export async function busyShare(program: string, folder: string, kind: 'sqlite' | 'azurite'): Promise<number> {
  if (kind === 'sqlite') {
    const file = join(folder, 'busy.db')
    await topStore(file, STREAMS)
    return busyShareOf(program, `sqlite:${file}`, at => `orders/${String((at * 7_919) % STREAMS).padStart(6, '0')}`)
  }
  const azurite = await startAzurite()
  try {
    const address = `azurite://127.0.0.1:${azurite.port}/busy`
    const names = Array.from({ length: 100 }, (_, at) => (at === 0 ? FIRST : `orders/${at}`))
    await withStore(address, async store => {
      await store.createContainer()
      for (const name of names) await createStream(store, name)
    })
    return await busyShareOf(program, address, at => names[at % names.length] ?? FIRST)
  } finally {
    await azurite.stop()
  }
}

function busyShareOf(program: string, address: string, nameOf: (at: number) => string): Promise<number> {
  return withStore(address, store =>
    withTop(program, ['--store', address], async top => {
      await top.until(FIRST)
      const end = new AbortController()
      const changing = changeOften(store, nameOf, end.signal)
      try {
        return await shareOf(top.pid)
      } finally {
        end.abort()
        await changing
      }
    }),
  )
}

async function changeOften(store: StreamStore, nameOf: (at: number) => string, signal: AbortSignal): Promise<void> {
  const startMs = performance.now()
  for (let at = 0; !signal.aborted; at++) {
    await sleep(Math.max(0, startMs + (at * 1_000) / CHANGES_A_SECOND - performance.now()))
    await change(store, nameOf(at), tagging('09.00'))
  }
}

async function shareOf(pid: number): Promise<number> {
  await sleep(SETTLE_MS)
  const before = await processorMs(pid)
  await sleep(WATCHED_MS)
  return ((await processorMs(pid)) - before) / WATCHED_MS
}

async function withStore<T>(address: string, use: (store: StreamStore) => Promise<T>): Promise<T> {
  const store = await openStore(address, {})
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
