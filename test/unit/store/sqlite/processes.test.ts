import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import { given, stored, text } from '../../../contract/harness.ts'
import type { WriterOptions } from '../../../faults/sqlite/disk/child-writer.ts'
import { startScript } from '../../../faults/sqlite/disk/script.ts'
import { faultsOf } from '../../../faults/sqlite/judgement.ts'
import { trustRow } from '../../../guarantees/record.ts'
import { sized } from '../../../guarantees/size.ts'
import { type Child, inFile, integrity, startChild, testFolder } from './support.ts'

const row = trustRow('sqlite')
const PROCESSES = 8
const EACH = sized(50, 500)
/** Writers are killed after this number of changes; sqlite-kills does so at any moment. */
const KILLED_AFTER = sized([17], [1, 17, 60])

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

/** The errors after a number of changes, each of which reported the number it wrote. */
async function lostIn(path: string, reported: readonly number[], count: number): Promise<string[]> {
  const counted = await counterIn(path)
  const numbers = Array.from({ length: count }, (_, i) => i + 1)
  const said = integrity(path)
  return [
    ...(counted === count ? [] : [`counted ${counted} of ${count}`]),
    ...numbers.filter(number => !reported.includes(number)).map(number => `never reported: ${number}`),
    ...reported.filter((number, at) => reported.indexOf(number) !== at).map(number => `reported again: ${number}`),
    ...(said === 'ok' ? [] : [`integrity_check: ${said}`]),
  ]
}

const numbersOf = (children: readonly Child[]): number[] => children.flatMap(child => child.lines.map(Number))

it('8 processes on one stream lose none of their changes', { timeout: sized(60_000, 600_000) }, async () => {
  const path = await counterFile()
  const children = Array.from({ length: PROCESSES }, () => startChild(['increment', path, String(EACH)]))
  expect(await Promise.all(children.map(child => child.ended))).toEqual(children.map(() => 0))
  expect(await lostIn(path, numbersOf(children), PROCESSES * EACH)).toEqual([])
  row.figure('acknowledged changes lost', 0, '0')
  row.injected('processes on one file', PROCESSES)
})

it('the test would detect processes that change an earlier state without reading again', async () => {
  const path = await counterFile()
  const reported = [await counterIn(path), await counterIn(path)].map(seen => seen + 1)
  const write = 'UPDATE bodies SET body = CAST(? AS BLOB) WHERE id = (SELECT body_id FROM streams)'
  for (const number of reported) inFile(path, db => db.prepare(write).run(String(number)))
  expect(await lostIn(path, reported, 2)).toEqual(['counted 1 of 2', 'never reported: 2', 'reported again: 1'])
  row.control('two write what they read before', true)
})

it('writers that are killed keep every reported change', { timeout: 60_000 }, async () => {
  const path = await counterFile()
  let killed = 0
  for (const acknowledged of KILLED_AFTER) {
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
    killed += children.length
  }
  row.figure('kills', killed)
  row.injected('killed while they count', killed)
})

it('processes that create the store at the same time create it once, and lose none of their changes', {
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
  row.injected('processes that make one file', ended.length)
})
