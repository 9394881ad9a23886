import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import { bytes, changeOptions, summary } from '../../../contract/harness.ts'
import { shortFolder } from '../../../faults/sqlite/disk/disk.ts'
import { document, faultsOf, once } from '../../../faults/sqlite/judgement.ts'
import { trustRow } from '../../../guarantees/record.ts'
import { repeatWith, sized, trustSeed } from '../../../guarantees/size.ts'
import { seededRandom } from '../../../support/faults.ts'

const FILE = 'test/unit/store/sqlite/wal.test.ts'
const seed = trustSeed(2_207)
const row = trustRow('sqlite')

const HEADER = 32
const FRAME = 24 + 4_096

/** The files on disk while the store is open, and the changes acknowledged at each length of the WAL. */
interface Written {
  readonly database: Buffer
  readonly wal: Buffer
  readonly acknowledged: readonly { readonly id: string; readonly length: number }[]
}

async function written(changes: number): Promise<Written> {
  const path = join(shortFolder(), 'streams.db')
  const store = openSqliteStore(path)
  const acknowledged: { id: string; length: number }[] = []
  await store.create('a', bytes(document('made')), summary())
  acknowledged.push({ id: 'made', length: readFileSync(`${path}-wal`).length })
  for (let at = 0; at < changes; at += 1) {
    await store.update('a', once(`c-${at}`), changeOptions())
    acknowledged.push({ id: `c-${at}`, length: readFileSync(`${path}-wal`).length })
  }
  const found = { database: readFileSync(path), wal: readFileSync(`${path}-wal`), acknowledged }
  await store.close()
  return found
}

/** Possible damage after `length`, which no acknowledged change needs. */
const DAMAGES: Readonly<Record<string, (wal: Buffer, length: number, random: () => number) => Buffer>> = {
  'is cut off': (wal, length) => wal.subarray(0, length),
  'is cut off inside a frame': (wal, length, random) =>
    wal.subarray(0, Math.min(wal.length, length + 1 + Math.floor(random() * (FRAME - 1)))),
  'is zeros': (wal, length) => Buffer.from(wal).fill(0, length),
  'is garbage': (wal, length, random) => {
    const damaged = Buffer.from(wal)
    for (let at = length; at < damaged.length; at += 1) damaged[at] = Math.floor(random() * 256)
    return damaged
  },
  'lacks a frame': (wal, length, random) => {
    const frames = Math.floor((wal.length - length) / FRAME)
    const from = length + Math.floor(random() * frames) * FRAME
    return Buffer.from(wal).fill(0, from, Math.min(wal.length, from + FRAME))
  },
  'has its last frames in another order': (wal, length) => {
    if (wal.length - length < 2 * FRAME) return Buffer.from(wal)
    const head = wal.subarray(0, wal.length - 2 * FRAME)
    return Buffer.concat([head, wal.subarray(-FRAME), wal.subarray(-2 * FRAME, -FRAME)])
  },
}

/** @param short the number of missing frames that the last acknowledged change needs */
async function faultsBehind(
  { database, wal, acknowledged }: Written,
  length: number,
  damage: (wal: Buffer, length: number, random: () => number) => Buffer,
  short = 0,
): Promise<string[]> {
  const image = join(shortFolder(), 'image', 'streams.db')
  rmSync(dirname(image), { recursive: true, force: true })
  mkdirSync(dirname(image))
  writeFileSync(image, database)
  writeFileSync(`${image}-wal`, damage(wal, length - short * FRAME, seededRandom(seed + length)))
  const needed = acknowledged.filter(change => change.length <= length).map(({ id }) => id)
  return faultsOf(image, { acknowledged: needed })
}

it.each(Object.entries(DAMAGES))(
  'acknowledged changes are kept if the WAL after them %s',
  { timeout: sized(120_000, 1_200_000) },
  async (how, damage) => {
    const all = await written(sized(4, 120))
    let cuts = 0
    for (let length = HEADER; length <= all.wal.length; length += FRAME) {
      expect(await faultsBehind(all, length, damage), `${length} bytes; ${repeatWith(FILE, seed)}`).toEqual([])
      cuts += 1
    }
    expect(cuts).toBeGreaterThan(8)
    row.figure('power cuts', cuts)
    row.injected(`the end of the WAL ${how}`, cuts)
  },
)

it('the test would detect a missing last acknowledged frame', async () => {
  const all = await written(4)
  const damage = DAMAGES['is cut off'] ?? (wal => wal)
  expect(await faultsBehind(all, all.wal.length, damage, 1)).toEqual(['lost: c-3'])
  row.control('an acknowledged frame is cut off', true)
})
