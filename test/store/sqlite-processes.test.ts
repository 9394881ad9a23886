import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { given, stored, text } from '../contract/harness.ts'
import { sized } from '../trust/size.ts'
import type { WriterOptions } from './disk/child-writer.ts'
import { startScript } from './disk/script.ts'
import { faultsOf } from './sqlite-judgement.ts'
import { type Child, integrity, startChild, testFolder } from './sqlite-support.ts'

const PROCESSES = 8
const EACH = 50

async function counterFile(): Promise<string> {
  const path = join(testFolder(), 'streams.db')
  const store = openSqliteStore(path)
  await given(store, 'counter', '0')
  await store.close()
  return path
}

async function counterIn(path: string): Promise<number> {
  const store = openSqliteStore(path)
  const body = text((await stored(store, 'counter')).body)
  await store.close()
  return Number(body)
}

const numbersOf = (children: readonly Child[]): number[] => children.flatMap(child => child.lines.map(Number))

it('loses none of the changes of 8 processes on one stream', { timeout: 60_000 }, async () => {
  const path = await counterFile()
  const children = Array.from({ length: PROCESSES }, () => startChild(['increment', path, String(EACH)]))
  expect(await Promise.all(children.map(child => child.ended))).toEqual(children.map(() => 0))
  expect(await counterIn(path)).toBe(PROCESSES * EACH)
  const all = Array.from({ length: PROCESSES * EACH }, (_, i) => i + 1)
  expect(numbersOf(children).toSorted((a, b) => a - b)).toEqual(all)
  expect(integrity(path)).toBe('ok')
})

it('keeps every reported change of writers that are killed', { timeout: 60_000 }, async () => {
  const path = await counterFile()
  for (const acknowledged of [1, 17, 60]) {
    const children: Child[] = []
    const onLine = (lines: readonly string[]): void => {
      if (lines.length === acknowledged) for (const child of children) child.process.kill('SIGKILL')
    }
    for (let i = 0; i < 2; i += 1) children.push(startChild(['increment', path, '1000000'], { onLine }))
    expect(await Promise.all(children.map(child => child.ended))).toEqual([null, null])
    const reported = numbersOf(children)
    expect(reported.length).toBeGreaterThanOrEqual(acknowledged)
    expect(integrity(path)).toBe('ok')
    expect(await counterIn(path)).toBeGreaterThanOrEqual(Math.max(...reported))
  }
})

it('is made once by processes that make it at the same time, and loses none of their changes', {
  timeout: 60_000,
}, async () => {
  const path = join(testFolder(), 'new', 'streams.db')
  const acknowledged: string[] = []
  const ended = Array.from({ length: sized(3, PROCESSES) }, (_, who) => {
    const options: WriterOptions = { who: String(who), count: 5 }
    const onLine = (id: string): void => void acknowledged.push(id)
    return startScript('child-writer.ts', ['change', path, JSON.stringify(options)], { onLine }).ended
  })
  expect(await Promise.all(ended)).toEqual(ended.map(() => 0))
  expect(acknowledged).toHaveLength(4 + 5 * ended.length)
  expect(await faultsOf(path, { acknowledged })).toEqual([])
})
