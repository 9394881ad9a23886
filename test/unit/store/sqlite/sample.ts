import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import { given } from '../../../contract/harness.ts'
import { testFolder } from './support.ts'

const NAME = 'streams.db'
export const SAMPLE_STREAMS = 21

let sample: Promise<Uint8Array> | undefined

/** A closed store with the stream `counter` = 1 and twenty more, each time a new one with the same bytes. */
export async function sampleFile(folder = testFolder()): Promise<string> {
  sample ??= made(join(testFolder(), NAME))
  const path = join(folder, NAME)
  writeFileSync(path, await sample)
  return path
}

async function made(path: string): Promise<Uint8Array> {
  const store = openSqliteStore(path)
  await given(store, 'counter', '1')
  for (let i = 1; i < SAMPLE_STREAMS; i += 1) await given(store, `s/${i}`, 'x'.repeat(2_000))
  await store.close()
  return readFileSync(path)
}
