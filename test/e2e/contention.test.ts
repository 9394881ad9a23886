import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { trustRow } from '../guarantees/record.ts'
import { openAzuriteStore, sharedAzurite } from '../support/azurite.ts'
import { CHANGES, contend, PROCESSES } from './contention.ts'

const row = trustRow('changes')

test('20 processes change one stream in SQLite at the same time: no change is lost or duplicated', {
  timeout: 240_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'leasectl-contention-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const store = await openStore(`sqlite:${join(folder, 'streams.db')}`, {})
  onTestFinished(() => store.close())
  await contend(store, 1)
  row.injected('changes of 20 processes on one stream of a file', PROCESSES * CHANGES)
})

test('20 processes change one stream in Azurite at the same time, under its lease: no change is lost or duplicated', {
  timeout: 240_000,
}, async () => {
  const { port } = await sharedAzurite()
  const store = await openAzuriteStore(port)
  onTestFinished(() => store.close())
  expect(store.address).toBe(`azurite://127.0.0.1:${port}/${store.container}`)
  await contend(store, CHANGES / 2)
  row.injected('changes of 20 processes under one lease', PROCESSES * CHANGES)
})
