import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { StoreFull } from '../../../../src/store/errors.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import {
  bytes,
  changeOptions,
  given,
  increment,
  listed,
  put,
  stored,
  summary,
  text,
} from '../../../contract/harness.ts'
import { trustRow } from '../../../guarantees/record.ts'
import { SAMPLE_STREAMS, sampleFile } from './sample.ts'
import { integrity, testFolder } from './support.ts'

const row = trustRow('sqlite')

describe('a store without room', () => {
  it('refuses a write that does not fit, keeps the rest, and continues when there is room again', async () => {
    const path = await sampleFile()
    let db: DatabaseSync | undefined
    const store = openSqliteStore(path, {
      onOpen: opened => {
        db = opened
        opened.exec('PRAGMA max_page_count = 1')
      },
    })
    const grow = (): ReturnType<typeof put> => put('y'.repeat(200_000))
    await expect(store.update('counter', grow(), changeOptions())).rejects.toBeInstanceOf(StoreFull)
    await expect(store.create('new', bytes('z'.repeat(200_000)), summary())).rejects.toBeInstanceOf(StoreFull)
    expect(text((await stored(store, 'counter')).body)).toBe('1')
    expect(await listed(store)).toHaveLength(SAMPLE_STREAMS)
    db?.exec('PRAGMA max_page_count = 100000')
    expect(await store.update('counter', grow(), changeOptions())).toMatchObject({ kind: 'committed' })
    await store.close()
    expect(integrity(path)).toBe('ok')
    row.injected('no more pages', 1)
  })

  it('on a full disk, where the commit fails, does the same', async ctx => {
    const disk = smallDisk()
    if (disk === undefined) {
      row.skipped('a full disk', 'no right to mount a tmpfs')
      return ctx.skip('needs the right to mount a tmpfs')
    }
    const store = openSqliteStore(join(disk, 'streams.db'))
    onTestFinished(() => store.close())
    await given(store, 'counter', '1')
    writeFileSync(join(disk, 'ballast'), new Uint8Array(300 * 1024))
    let refused = 0
    for (let i = 0; i < 400 && refused === 0; i += 1) {
      const fault = await store.update('counter', increment, changeOptions()).catch(error => error)
      if (fault instanceof StoreFull) refused = i + 1
      else expect(fault).toMatchObject({ kind: 'committed' })
    }
    expect(refused).toBeGreaterThan(0)
    expect(text((await stored(store, 'counter')).body)).toBe(String(refused))
    row.injected('full disk', 1)
    rmSync(join(disk, 'ballast'))
    expect(await store.update('counter', increment, changeOptions())).toMatchObject({ kind: 'committed' })
    await store.close()
    expect(integrity(join(disk, 'streams.db'))).toBe('ok')
  })
})

const MOUNT = '/bin/mount'
const UNMOUNT = '/bin/umount'

/** A file system of 1 MiB for one test; `undefined` if it cannot be mounted. */
function smallDisk(): string | undefined {
  const disk = join(testFolder(), 'disk')
  mkdirSync(disk)
  try {
    execFileSync(MOUNT, ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  onTestFinished(() => void execFileSync(UNMOUNT, [disk]))
  return disk
}

it('copies of a closed store are whole', async () => {
  const path = await sampleFile()
  copyFileSync(path, `${path}.copy`)
  const store = openSqliteStore(`${path}.copy`)
  expect(await listed(store)).toHaveLength(SAMPLE_STREAMS)
  await store.close()
})
